"""Makes resources on moto's server at URL, waits for each with boto3, and prints what came of it:
a JSON array of {"service", "waiter", "input", "verdict"}, with the verdicts success, failure, timeout and error.
"""

import concurrent.futures
import io
import json
import sys
import zipfile

import boto3
from botocore import xform_name
from botocore.exceptions import WaiterError

URL = sys.argv[1]


def client(service):
    return boto3.client(service, endpoint_url=URL, region_name="us-east-1", aws_access_key_id="t", aws_secret_access_key="t")


CASES = []


def case(service, waiter, **arguments):
    CASES.append((service, waiter, arguments))


def ec2():
    c = client("ec2")
    image = c.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    running, stopped, terminated = (i["InstanceId"] for i in c.run_instances(ImageId=image, MinCount=3, MaxCount=3)["Instances"])
    c.stop_instances(InstanceIds=[stopped])
    c.terminate_instances(InstanceIds=[terminated])
    case("ec2", "InstanceRunning", InstanceIds=[running])
    case("ec2", "InstanceRunning", InstanceIds=[stopped])
    case("ec2", "InstanceRunning", InstanceIds=[terminated])
    case("ec2", "InstanceStopped", InstanceIds=[stopped])
    case("ec2", "InstanceStopped", InstanceIds=[running])
    case("ec2", "InstanceStopped", InstanceIds=[terminated])
    case("ec2", "InstanceTerminated", InstanceIds=[terminated])
    case("ec2", "InstanceTerminated", InstanceIds=[running])
    case("ec2", "InstanceExists", InstanceIds=[running])
    case("ec2", "InstanceExists", InstanceIds=["i-0123456789abcdef0"])
    nothing = [{"Name": "tag:none", "Values": ["none"]}]
    vpc = c.describe_vpcs()["Vpcs"][0]["VpcId"]
    case("ec2", "VpcAvailable", VpcIds=[vpc])
    case("ec2", "VpcAvailable", Filters=nothing)
    case("ec2", "VpcExists", VpcIds=[vpc])
    case("ec2", "VpcExists", VpcIds=["vpc-0123456789abcdef0"])
    subnet = c.describe_subnets()["Subnets"][0]["SubnetId"]
    case("ec2", "SubnetAvailable", SubnetIds=[subnet])
    case("ec2", "SubnetAvailable", Filters=nothing)
    free = c.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]
    used = c.describe_volumes(Filters=[{"Name": "attachment.instance-id", "Values": [running]}])["Volumes"][0]["VolumeId"]
    case("ec2", "VolumeAvailable", VolumeIds=[free])
    case("ec2", "VolumeAvailable", VolumeIds=[used])
    case("ec2", "VolumeInUse", VolumeIds=[used])
    case("ec2", "VolumeInUse", VolumeIds=[free])
    c.create_key_pair(KeyName="orders")
    case("ec2", "KeyPairExists", KeyNames=["orders"])
    case("ec2", "KeyPairExists", KeyNames=["none"])
    group = c.create_security_group(GroupName="orders", Description="orders", VpcId=vpc)["GroupId"]
    case("ec2", "SecurityGroupExists", GroupIds=[group])
    case("ec2", "SecurityGroupExists", GroupIds=["sg-0123456789abcdef0"])
    return subnet


def rds():
    c = client("rds")
    for name in ["ready", "stopped"]:
        c.create_db_instance(DBInstanceIdentifier=name, DBInstanceClass="db.t3.micro", Engine="mysql", MasterUsername="u", MasterUserPassword="password", AllocatedStorage=20)
    c.stop_db_instance(DBInstanceIdentifier="stopped")
    case("rds", "DBInstanceAvailable", DBInstanceIdentifier="ready")
    case("rds", "DBInstanceAvailable", DBInstanceIdentifier="stopped")
    case("rds", "DBInstanceDeleted", DBInstanceIdentifier="none")
    case("rds", "DBInstanceDeleted", DBInstanceIdentifier="ready")
    for name in ["ready", "stopped"]:
        c.create_db_cluster(DBClusterIdentifier=name, Engine="aurora-mysql", MasterUsername="u", MasterUserPassword="password")
    c.describe_db_clusters()
    c.stop_db_cluster(DBClusterIdentifier="stopped")
    case("rds", "DBClusterAvailable", DBClusterIdentifier="ready")
    case("rds", "DBClusterAvailable", DBClusterIdentifier="stopped")


def cloudformation():
    c = client("cloudformation")
    template = json.dumps({"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}})
    c.create_stack(StackName="ready", TemplateBody=template)
    c.create_stack(StackName="gone", TemplateBody=template)
    c.delete_stack(StackName="gone")
    c.create_change_set(StackName="review", ChangeSetName="first", ChangeSetType="CREATE", TemplateBody=template)
    case("cloudformation", "StackCreateComplete", StackName="ready")
    case("cloudformation", "StackCreateComplete", StackName="review")
    case("cloudformation", "StackCreateComplete", StackName="none")
    case("cloudformation", "StackExists", StackName="ready")
    case("cloudformation", "StackExists", StackName="none")
    case("cloudformation", "StackDeleteComplete", StackName="gone")
    case("cloudformation", "StackDeleteComplete", StackName="ready")
    case("cloudformation", "StackUpdateComplete", StackName="none")
    case("cloudformation", "StackImportComplete", StackName="none")
    case("cloudformation", "ChangeSetCreateComplete", StackName="review", ChangeSetName="first")


def iam():
    c = client("iam")
    c.create_user(UserName="orders")
    c.create_role(RoleName="orders", AssumeRolePolicyDocument="{}")
    c.create_instance_profile(InstanceProfileName="orders")
    policy = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]})
    arn = c.create_policy(PolicyName="orders", PolicyDocument=policy)["Policy"]["Arn"]
    case("iam", "UserExists", UserName="orders")
    case("iam", "UserExists", UserName="none")
    case("iam", "RoleExists", RoleName="orders")
    case("iam", "RoleExists", RoleName="none")
    case("iam", "InstanceProfileExists", InstanceProfileName="orders")
    case("iam", "InstanceProfileExists", InstanceProfileName="none")
    case("iam", "PolicyExists", PolicyArn=arn)
    case("iam", "PolicyExists", PolicyArn=arn + "-none")


def elbv2(subnet):
    c = client("elbv2")
    arn = c.create_load_balancer(Name="orders", Subnets=[subnet], Scheme="internal")["LoadBalancers"][0]["LoadBalancerArn"]
    none = arn[:-4] + "none"
    case("elbv2", "LoadBalancerExists", LoadBalancerArns=[arn])
    case("elbv2", "LoadBalancerExists", LoadBalancerArns=[none])
    case("elbv2", "LoadBalancerAvailable", LoadBalancerArns=[arn])
    case("elbv2", "LoadBalancerAvailable", LoadBalancerArns=[none])
    case("elbv2", "LoadBalancersDeleted", LoadBalancerArns=[none])
    case("elbv2", "LoadBalancersDeleted", LoadBalancerArns=[arn])


def s3():
    c = client("s3")
    c.create_bucket(Bucket="exports")
    c.put_object(Bucket="exports", Key="a/k", Body=b"x")
    case("s3", "BucketExists", Bucket="exports")
    case("s3", "BucketExists", Bucket="none")
    case("s3", "BucketNotExists", Bucket="none")
    case("s3", "BucketNotExists", Bucket="exports")
    case("s3", "ObjectExists", Bucket="exports", Key="a/k")
    case("s3", "ObjectExists", Bucket="exports", Key="none")
    case("s3", "ObjectNotExists", Bucket="exports", Key="none")
    case("s3", "ObjectNotExists", Bucket="exports", Key="a/k")


def dynamodb():
    client("dynamodb").create_table(
        TableName="Orders", BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "k", "KeyType": "HASH"}], AttributeDefinitions=[{"AttributeName": "k", "AttributeType": "S"}],
    )
    case("dynamodb", "TableExists", TableName="Orders")
    case("dynamodb", "TableExists", TableName="None")
    case("dynamodb", "TableNotExists", TableName="None")
    case("dynamodb", "TableNotExists", TableName="Orders")


def kinesis():
    client("kinesis").create_stream(StreamName="orders", ShardCount=1)
    case("kinesis", "StreamExists", StreamName="orders")
    case("kinesis", "StreamExists", StreamName="none")
    case("kinesis", "StreamNotExists", StreamName="none")
    case("kinesis", "StreamNotExists", StreamName="orders")


def ecs():
    c = client("ecs")
    c.create_cluster(clusterName="web")
    case("ecs", "ServicesStable", cluster="web", services=["none"])
    case("ecs", "ServicesInactive", cluster="web", services=["none"])
    case("ecs", "TasksRunning", cluster="web", tasks=["0123456789abcdef0123456789abcdef"])


def others(subnet):
    client("eks").create_cluster(name="prod", roleArn="arn:aws:iam::123456789012:role/orders", resourcesVpcConfig={"subnetIds": [subnet]})
    case("eks", "ClusterActive", name="prod")
    case("eks", "ClusterDeleted", name="prod")
    case("eks", "ClusterDeleted", name="none")
    c = client("redshift")
    c.create_cluster(ClusterIdentifier="orders", NodeType="ds2.xlarge", MasterUsername="u", MasterUserPassword="Passw0rd")
    case("redshift", "ClusterAvailable", ClusterIdentifier="orders")
    case("redshift", "ClusterAvailable", ClusterIdentifier="none")
    case("redshift", "ClusterDeleted", ClusterIdentifier="none")
    c = client("elasticache")
    c.create_cache_cluster(CacheClusterId="orders", Engine="redis", CacheNodeType="cache.t3.micro", NumCacheNodes=1)
    case("elasticache", "CacheClusterAvailable", CacheClusterId="orders")
    case("elasticache", "CacheClusterDeleted", CacheClusterId="orders")
    case("elasticache", "CacheClusterDeleted", CacheClusterId="none")
    client("cloudwatch").put_metric_alarm(
        AlarmName="late", MetricName="Lateness", Namespace="JobPoller", Statistic="Maximum", Period=60, EvaluationPeriods=1, Threshold=60, ComparisonOperator="GreaterThanThreshold",
    )
    case("cloudwatch", "AlarmExists", AlarmNames=["late"])
    case("cloudwatch", "AlarmExists", AlarmNames=["none"])
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("f.py", "def handler(event, context): pass")
    client("lambda").create_function(
        FunctionName="orders", Runtime="python3.12", Role="arn:aws:iam::123456789012:role/orders", Handler="f.handler", Code={"ZipFile": code.getvalue()},
    )
    case("lambda", "FunctionExists", FunctionName="orders")
    case("lambda", "FunctionExists", FunctionName="none")
    case("lambda", "FunctionActiveV2", FunctionName="orders")
    c = client("sagemaker")
    for name in ["in-service", "stopped"]:
        c.create_notebook_instance(NotebookInstanceName=name, InstanceType="ml.t2.medium", RoleArn="arn:aws:iam::123456789012:role/orders")
    c.stop_notebook_instance(NotebookInstanceName="stopped")
    case("sagemaker", "NotebookInstanceInService", NotebookInstanceName="in-service")
    case("sagemaker", "NotebookInstanceInService", NotebookInstanceName="stopped")
    case("sagemaker", "NotebookInstanceStopped", NotebookInstanceName="stopped")
    case("sagemaker", "NotebookInstanceStopped", NotebookInstanceName="in-service")
    client("ses").verify_email_identity(EmailAddress="a@example.com")
    case("ses", "IdentityExists", Identities=["a@example.com"])
    case("ses", "IdentityExists", Identities=["b@example.com"])


# What boto3 says of a wait that has not succeeded; anything else is an error that no acceptor expects.
REASONS = [("Max attempts exceeded", "timeout"), ("terminal failure state", "failure")]


def verdict(found):
    service, waiter, arguments = found
    try:
        client(service).get_waiter(xform_name(waiter)).wait(WaiterConfig={"Delay": 1, "MaxAttempts": 2}, **arguments)
        said = "success"
    except WaiterError as e:
        said = next((said for text, said in REASONS if text in str(e)), "error")
    return {"service": service, "waiter": waiter, "input": arguments, "verdict": said}


client("glue").create_job(Name="orders", Role="orders", Command={"Name": "glueetl", "ScriptLocation": "s3://exports/k"})
network = ec2()
rds()
cloudformation()
iam()
elbv2(network)
s3()
dynamodb()
kinesis()
ecs()
others(network)
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    print(json.dumps(list(pool.map(verdict, CASES))))
