"""Runs moto's server, and makes what the machines of moto_test.go ask for.

motoserver.py serve PORT JAR runs the server, with a bridge to JSONata in Java: moto has none.
motoserver.py prepare URL makes the resources and prints what the test has to know.
"""

import json
import sys


def serve(port, jar):
    import jpype
    import moto.stepfunctions.parser.asl.jsonata.jsonata as engine

    loaded = []

    def evaluate(expression):
        if not loaded:
            jpype.startJVM(classpath=[jar])
            loaded.append(jpype.JClass("com.dashjoin.jsonata.Jsonata"))
        try:
            text = loaded[0].jsonata("$string({'value': (" + expression + ")})").evaluate(None)
        except Exception as ex:
            raise engine.JSONataException("UNKNOWN", str(ex))
        return json.loads(str(text)).get("value")

    engine.eval_jsonata_expression = evaluate
    from moto.server import main

    main(["-H", "127.0.0.1", "-p", port])


def prepare(url):
    import boto3

    def client(name):
        return boto3.client(name, endpoint_url=url, region_name="us-east-1", aws_access_key_id="t", aws_secret_access_key="t")

    policy = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]})
    client("dynamodb").create_table(
        TableName="Orders", BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "k", "KeyType": "HASH"}], AttributeDefinitions=[{"AttributeName": "k", "AttributeType": "S"}],
    )
    client("kinesis").create_stream(StreamName="orders", ShardCount=1)
    client("s3").create_bucket(Bucket="exports")
    client("s3").put_object(Bucket="exports", Key="k", Body=b"x")
    client("iam").create_role(RoleName="orders", AssumeRolePolicyDocument="{}")
    client("iam").create_instance_profile(InstanceProfileName="orders")
    client("glue").create_job(Name="orders", Role="orders", Command={"Name": "glueetl", "ScriptLocation": "s3://exports/k"})
    client("cloudformation").create_stack(StackName="orders", TemplateBody=json.dumps({"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}}))
    print(json.dumps({
        "policy": client("iam").create_policy(PolicyName="orders", PolicyDocument=policy)["Policy"]["Arn"],
        "vpc": client("ec2").describe_vpcs()["Vpcs"][0]["VpcId"],
    }))


if sys.argv[1] == "serve":
    serve(*sys.argv[2:])
else:
    prepare(*sys.argv[2:])
