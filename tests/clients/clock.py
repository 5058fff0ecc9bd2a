"""Steps a machine that waits a day, with nothing but Python's standard library.

clock.py URL: a server whose clock stands still. It prints how many requests it took.
"""

import json
import sys
import time
import urllib.request

url = sys.argv[1]
requests = 0


def send(path, body, headers):
    global requests
    requests += 1
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def call(operation, **members):
    return send("/", members, {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "AWSStepFunctions." + operation})


def clock(**change):
    return send("/_jobpoller/clock", change, {"Content-Type": "application/json"})


began = time.monotonic()
definition = {
    "QueryLanguage": "JSONata",
    "StartAt": "Begin",
    "States": {
        "Begin": {"Type": "Pass", "Assign": {"hours": 0}, "Next": "An hour"},
        "An hour": {"Type": "Wait", "Seconds": 3600, "Assign": {"hours": "{% $hours + 1 %}"}, "Next": "A day?"},
        "A day?": {"Type": "Choice", "Choices": [{"Condition": "{% $hours < 24 %}", "Next": "An hour"}], "Default": "Done"},
        "Done": {"Type": "Succeed", "Output": "{% $hours %}"},
    },
}
machine = call("CreateStateMachine", name="day", definition=json.dumps(definition), roleArn="arn:aws:iam::123456789012:role/day")["stateMachineArn"]
execution = call("StartExecution", stateMachineArn=machine)["executionArn"]
for _ in range(23):
    clock(nextEvent=True)
assert call("DescribeExecution", executionArn=execution)["status"] == "RUNNING"
clock(advance="1h")
described = call("DescribeExecution", executionArn=execution)
assert described["status"] == "SUCCEEDED" and described["output"] == "24", described
assert described["stopDate"] - described["startDate"] == 86400, described
entered = [e["timestamp"] for e in call("GetExecutionHistory", executionArn=execution, maxResults=1000)["events"] if e["type"] == "WaitStateEntered"]
assert [t - entered[0] for t in entered] == [3600 * hour for hour in range(24)], entered
print(json.dumps({"requests": requests, "seconds": time.monotonic() - began}))
