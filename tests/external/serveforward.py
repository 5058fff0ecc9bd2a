"""Uses `jobpoller serve` before moto with boto3, which knows nothing but AWS_ENDPOINT_URL."""

import json
import os
import pathlib
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import boto3
from botocore.config import Config

key = "folder/a b+ü.txt"


def client(name, **config):
    return boto3.client(name, config=Config(**({"retries": {"total_max_attempts": 1}} | config)))


s3, dynamodb, sqs, events, functions = (client(name) for name in ("s3", "dynamodb", "sqs", "events", "stepfunctions"))


def equal(got, want):
    assert got == want, f"got {got!r:.500}, want {want!r:.500}"


def eventually(look):
    for _ in range(600):
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it does not happen")


def create(name, states):
    definition = json.dumps({"QueryLanguage": "JSONata", "StartAt": next(iter(states)), "States": states})
    return functions.create_state_machine(name=name, definition=definition, roleArn="arn:aws:iam::123456789012:role/orders")["stateMachineArn"]


def objects():
    s3.create_bucket(Bucket="exports", CreateBucketConfiguration={"LocationConstraint": "eu-north-1"})
    s3.put_object(Bucket="exports", Key=key, Body=b"hello")
    equal(s3.get_object(Bucket="exports", Key=key)["Body"].read(), b"hello")
    for version in "s3", "s3v4":
        url = client("s3", signature_version=version).generate_presigned_url("get_object", Params={"Bucket": "exports", "Key": key})
        assert url.startswith(os.environ["AWS_ENDPOINT_URL"] + "/exports/folder/"), url
        try:
            urllib.request.urlopen(url)
            raise AssertionError("a server that asks for signed requests takes no presigned URL")
        except urllib.error.HTTPError as refusal:
            equal(refusal.code, 403)
    large = os.urandom(20 << 20)
    s3.put_object(Bucket="exports", Key="large", Body=large)
    assert s3.get_object(Bucket="exports", Key="large")["Body"].read() == large
    try:
        s3.get_object(Bucket="exports", Key="none")
        raise AssertionError("there is no such object")
    except s3.exceptions.NoSuchKey:
        pass


def tasks_and_events():
    dynamodb.create_table(
        TableName="Orders", BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "k", "KeyType": "HASH"}], AttributeDefinitions=[{"AttributeName": "k", "AttributeType": "S"}],
    )
    dynamodb.put_item(TableName="Orders", Item={"k": {"S": "client"}})
    queue = sqs.create_queue(QueueName="changes")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    events.put_rule(Name="changes", EventPattern=json.dumps({"source": ["aws.states"], "detail": {"status": ["SUCCEEDED", "FAILED"]}}))
    equal(events.put_targets(Rule="changes", Targets=[{"Id": "1", "Arn": arn}])["FailedEntryCount"], 0)
    machine = create("orders", {
        "Put": {
            "Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:putItem",
            "Arguments": {"TableName": "Orders", "Item": {"k": {"S": "task"}}}, "Next": "Read",
        },
        "Read": {
            "Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:getObject",
            "Arguments": {"Bucket": "exports", "Key": key}, "Output": "{% $states.result.Body %}", "End": True,
        },
    })
    execution = functions.start_execution(stateMachineArn=machine)["executionArn"]
    message = eventually(lambda: sqs.receive_message(QueueUrl=queue).get("Messages"))[0]
    event = json.loads(message["Body"])
    equal((event["region"], event["resources"]), ("eu-north-1", [execution]))
    equal(event["detail-type"], "Step Functions Execution Status Change")
    equal((event["detail"]["status"], event["detail"]["output"]), ("SUCCEEDED", '"hello"'))
    found = dynamodb.scan(TableName="Orders")["Items"]
    equal(sorted(item["k"]["S"] for item in found), ["client", "task"])


def real_functions():
    """The functions of lambda-loop keep their records in the server's store, whatever bucket the shell names, and call the server for the job."""
    job = create("job", {"A": {"Type": "Pass", "End": True}})
    definition = pathlib.Path("statemachines/lambda-loop.asl.json").read_text()
    machine = functions.create_state_machine(name="poll", definition=definition, roleArn="arn:aws:iam::123456789012:role/orders")["stateMachineArn"]
    asked = {"job": "states:StartExecution", "maxWaitSeconds": 300, "arguments": {"stateMachineArn": job}}
    execution = functions.start_execution(stateMachineArn=machine, input=json.dumps(asked))["executionArn"]

    def ended():
        described = functions.describe_execution(executionArn=execution)
        return described if described["status"] != "RUNNING" else None

    described = eventually(ended)
    equal((described["status"], described.get("cause")), ("SUCCEEDED", None))
    equal([x["status"] for x in functions.list_executions(stateMachineArn=job)["executions"]], ["SUCCEEDED"])
    kept = [x["Key"] for x in s3.list_objects_v2(Bucket="exports").get("Contents", []) if x["Key"].startswith("jobpoller/")]
    equal(kept, [])


def limits():
    """A client that calls too often is throttled, and one that tries again gets through. The
    quota is one of a call a second, which a slow machine exceeds, too."""
    machine = create("nothing", {"A": {"Type": "Pass", "End": True}})
    update = {"stateMachineArn": machine, "roleArn": "arn:aws:iam::123456789012:role/other"}
    hasty = client("stepfunctions", retries={"total_max_attempts": 1}, max_pool_connections=16)
    patient = client("stepfunctions", retries={"mode": "standard", "total_max_attempts": 8}, max_pool_connections=16)
    refused, refusals = threading.Event(), []

    def hurry(_):
        if refused.is_set():
            return
        try:
            hasty.update_state_machine(**update)
        except hasty.exceptions.ClientError as error:
            refusals.append((error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]))
            refused.set()

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(hurry, range(20_000)))
        equal(set(refusals), {("ThrottlingException", 400)})
        for _ in range(100):
            answers = list(pool.map(lambda _: patient.update_state_machine(**update), range(5)))
            tried = sum(answer["ResponseMetadata"]["RetryAttempts"] > 0 for answer in answers)
            if tried:
                return tried
    raise AssertionError("no call was throttled")


objects()
tasks_and_events()
real_functions()
print(f"serve before it kept objects, an item of a Task, the records of functions and an event in a queue; {limits()} of 5 calls were throttled and tried again")
