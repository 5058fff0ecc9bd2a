"""Calls every operation of Step Functions with boto3, and checks the answers.

boto.py DEFINITION: the file of the machine that all clients create. The environment
says where the server is, and what to sign with.
"""

import json
import pathlib
import sys
import time

import boto3
from botocore.config import Config

definition_file = sys.argv[1]
client = boto3.client("stepfunctions", config=Config(retries={"total_max_attempts": 1}))
role = "arn:aws:iam::123456789012:role/orders"


def equal(got, want):
    assert got == want, f"got {got!r}, want {want!r}"


def refused(error, call, **arguments):
    try:
        answer = call(**arguments)
    except client.exceptions.ClientError as refusal:
        equal(refusal.response["Error"]["Code"], error)
        equal(refusal.response["ResponseMetadata"]["HTTPStatusCode"], 400)
        assert refusal.response["Error"]["Message"]
        return
    raise AssertionError(f"not {error}: {answer}")


def pages(operation, member, **arguments):
    found = []
    for page in client.get_paginator(operation).paginate(PaginationConfig={"PageSize": 2}, **arguments):
        assert len(page[member]) <= 2, page
        found += page[member]
    return found


def eventually(look):
    for _ in range(6000):
        found = look()
        if found:
            return found
        time.sleep(0.005)
    raise AssertionError("it does not happen")


def ended(execution):
    def look():
        described = client.describe_execution(executionArn=execution)
        return described if described["status"] != "RUNNING" else None

    return eventually(look)


def machines_and_activities():
    activity = client.create_activity(name="boto-ask", tags=[{"key": "team", "value": "orders"}])["activityArn"]
    equal(client.create_activity(name="boto-ask")["activityArn"], activity)
    definition = pathlib.Path(definition_file).read_text().replace("${Activity}", activity)
    equal(client.validate_state_machine_definition(definition=definition)["result"], "OK")
    wrong = client.validate_state_machine_definition(definition='{"StartAt": "A", "States": {}}')
    equal(wrong["result"], "FAIL")
    assert all(d["severity"] == "ERROR" and d["code"] and d["message"] for d in wrong["diagnostics"]), wrong
    created = client.create_state_machine(name="boto-orders", definition=definition, roleArn=role, publish=True, versionDescription="first")
    machine = created["stateMachineArn"]
    equal(machine, "arn:aws:states:us-east-1:123456789012:stateMachine:boto-orders")
    equal(created["stateMachineVersionArn"], machine + ":1")
    refused("InvalidName", client.create_state_machine, name="a b", definition=definition, roleArn=role)
    refused("InvalidDefinition", client.create_state_machine, name="c", definition="{}", roleArn=role)
    described = client.describe_state_machine(stateMachineArn=machine)
    equal((described["definition"], described["type"], described["status"], described["roleArn"]), (definition, "STANDARD", "ACTIVE", role))
    assert machine in [m["stateMachineArn"] for m in pages("list_state_machines", "stateMachines")]
    assert activity in [a["activityArn"] for a in pages("list_activities", "activities")]
    equal(client.describe_activity(activityArn=activity)["name"], "boto-ask")
    client.tag_resource(resourceArn=machine, tags=[{"key": "stage", "value": "test"}, {"key": "team", "value": "orders"}])
    client.untag_resource(resourceArn=machine, tagKeys=["team"])
    equal(client.list_tags_for_resource(resourceArn=machine)["tags"], [{"key": "stage", "value": "test"}])
    return machine, activity, definition


def executions(machine):
    first = client.start_execution(stateMachineArn=machine, name="once", input='{"do": "wait"}')
    equal(client.start_execution(stateMachineArn=machine, name="once", input='{"do": "wait"}')["executionArn"], first["executionArn"])
    refused("ExecutionAlreadyExists", client.start_execution, stateMachineArn=machine, name="once", input='{"do": "fail"}')
    refused("InvalidExecutionInput", client.start_execution, stateMachineArn=machine, input="{")
    refused("StateMachineDoesNotExist", client.start_execution, stateMachineArn=machine + "-none")
    refused("ExecutionDoesNotExist", client.describe_execution, executionArn=first["executionArn"] + "-none")
    refused("InvalidArn", client.describe_execution, executionArn="orders")
    equal(client.describe_execution(executionArn=first["executionArn"])["status"], "RUNNING")
    client.stop_execution(executionArn=first["executionArn"], error="Enough", cause="seen")
    stopped = ended(first["executionArn"])
    equal((stopped["status"], stopped["error"], stopped["cause"]), ("ABORTED", "Enough", "seen"))
    failed = ended(client.start_execution(stateMachineArn=machine, input='{"do": "fail"}')["executionArn"])
    equal((failed["status"], failed["error"]), ("FAILED", "Refused"))
    done = ended(client.start_execution(stateMachineArn=machine, input='{"do": "nothing"}')["executionArn"])
    equal((done["status"], json.loads(done["output"])), ("SUCCEEDED", {"do": "nothing"}))
    found = pages("list_executions", "executions", stateMachineArn=machine)
    equal([x["status"] for x in found], ["SUCCEEDED", "FAILED", "ABORTED"])
    equal(len(pages("list_executions", "executions", stateMachineArn=machine, statusFilter="FAILED")), 1)
    refused("InvalidToken", client.list_executions, stateMachineArn=machine, nextToken="none")

    events = pages("get_execution_history", "events", executionArn=done["executionArn"])
    equal([e["type"] for e in events], [
        "ExecutionStarted", "ChoiceStateEntered", "ChoiceStateExited", "SucceedStateEntered", "SucceedStateExited", "ExecutionSucceeded"])
    equal([e["previousEventId"] for e in events], [0, 0, 2, 3, 4, 5])
    back = pages("get_execution_history", "events", executionArn=done["executionArn"], reverseOrder=True, includeExecutionData=False)
    equal([e["id"] for e in back], [6, 5, 4, 3, 2, 1])
    assert "output" not in back[0]["executionSucceededEventDetails"], back[0]
    equal(events[0]["executionStartedEventDetails"]["roleArn"], role)


def update(machine, definition):
    execution = client.start_execution(stateMachineArn=machine, input='{"do": "wait"}')["executionArn"]
    changed = definition.replace("Does what its input asks for", "Changed")
    revision = client.update_state_machine(stateMachineArn=machine, definition=changed)["revisionId"]
    equal(client.describe_state_machine_for_execution(executionArn=execution)["definition"], definition)
    described = client.describe_state_machine(stateMachineArn=machine)
    equal((described["definition"], described["revisionId"]), (changed, revision))
    refused("MissingRequiredParameter", client.update_state_machine, stateMachineArn=machine)
    client.stop_execution(executionArn=execution)


def task(activity):
    answer = client.get_activity_task(activityArn=activity, workerName="boto")
    return answer["taskToken"], json.loads(answer["input"])


def tasks(machine, activity):
    execution = client.start_execution(stateMachineArn=machine, input='{"do": "ask"}')["executionArn"]
    token, given = task(activity)
    equal(given, {"do": "ask"})
    client.send_task_heartbeat(taskToken=token)
    client.send_task_failure(taskToken=token, error="No", cause="not today")
    refused("InvalidToken", client.send_task_heartbeat, taskToken="none")
    equal((ended(execution)["error"], ended(execution)["redriveStatus"]), ("No", "REDRIVABLE"))
    client.redrive_execution(executionArn=execution)
    token, _ = task(activity)
    refused("InvalidOutput", client.send_task_success, taskToken=token, output="{")
    client.send_task_success(taskToken=token, output='"yes"')
    done = ended(execution)
    equal((done["status"], json.loads(done["output"]), done["redriveCount"]), ("SUCCEEDED", {"do": "ask", "answer": "yes"}, 1))
    kinds = [e["type"] for e in pages("get_execution_history", "events", executionArn=execution)]
    assert "ExecutionRedriven" in kinds and "ActivityStarted" in kinds, kinds
    refused("ExecutionNotRedrivable", client.redrive_execution, executionArn=execution)


def map_runs(machine, activity):
    execution = client.start_execution(stateMachineArn=machine, input='{"do": "many", "items": [1, 2, 3]}')["executionArn"]
    token, given = task(activity)
    equal(given, 1)
    run = pages("list_map_runs", "mapRuns", executionArn=execution)[0]["mapRunArn"]
    described = client.describe_map_run(mapRunArn=run)
    equal((described["status"], described["maxConcurrency"], described["itemCounts"]["total"]), ("RUNNING", 1, 3))
    client.update_map_run(mapRunArn=run, maxConcurrency=2)
    tokens = [token, task(activity)[0]]
    for token in tokens:
        client.send_task_success(taskToken=token, output="1")
    client.send_task_success(taskToken=task(activity)[0], output="1")
    equal(json.loads(ended(execution)["output"])["answer"], [1, 1, 1])
    described = client.describe_map_run(mapRunArn=run)
    equal((described["status"], described["maxConcurrency"], described["itemCounts"]["succeeded"]), ("SUCCEEDED", 2, 3))
    equal(len(pages("list_executions", "executions", mapRunArn=run)), 3)
    refused("ValidationException", client.update_map_run, mapRunArn=run, maxConcurrency=1)


def versions(machine):
    second = client.publish_state_machine_version(stateMachineArn=machine)["stateMachineVersionArn"]
    equal(second, machine + ":2")
    equal([v["stateMachineVersionArn"] for v in client.list_state_machine_versions(stateMachineArn=machine)["stateMachineVersions"]], [second, machine + ":1"])
    routes = [{"stateMachineVersionArn": machine + ":1", "weight": 50}, {"stateMachineVersionArn": second, "weight": 50}]
    alias = client.create_state_machine_alias(name="live", routingConfiguration=routes)["stateMachineAliasArn"]
    refused("ValidationException", client.update_state_machine_alias, stateMachineAliasArn=alias, routingConfiguration=routes[:1])
    client.update_state_machine_alias(stateMachineAliasArn=alias, description="for all", routingConfiguration=[{"stateMachineVersionArn": second, "weight": 100}])
    equal(client.describe_state_machine_alias(stateMachineAliasArn=alias)["description"], "for all")
    equal([a["stateMachineAliasArn"] for a in client.list_state_machine_aliases(stateMachineArn=machine)["stateMachineAliases"]], [alias])
    done = ended(client.start_execution(stateMachineArn=alias)["executionArn"])
    equal((done["stateMachineAliasArn"], done["stateMachineVersionArn"]), (alias, second))
    refused("ConflictException", client.delete_state_machine_version, stateMachineVersionArn=second)
    client.delete_state_machine_alias(stateMachineAliasArn=alias)
    client.delete_state_machine_version(stateMachineVersionArn=second)


def express():
    machine = client.create_state_machine(
        name="boto-express", roleArn=role, type="EXPRESS",
        definition='{"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": "ran", "End": true}}}')["stateMachineArn"]
    done = client.start_sync_execution(stateMachineArn=machine, name="one")
    equal((done["status"], done["output"], done["name"]), ("SUCCEEDED", '"ran"', "one"))
    assert done["billingDetails"]["billedDurationInMilliseconds"] >= 100, done
    started = client.start_execution(stateMachineArn=machine)["executionArn"]
    refused("InvalidArn", client.describe_execution, executionArn=started)
    client.delete_state_machine(stateMachineArn=machine)


def test_state():
    tested = client.test_state(
        definition='{"Type": "Pass", "QueryLanguage": "JSONata", "Output": "{% $states.input.n + 1 %}", "Next": "B"}',
        roleArn=role, input='{"n": 2}', inspectionLevel="DEBUG")
    equal((tested["status"], tested["output"], tested["nextState"]), ("SUCCEEDED", "3", "B"))
    equal(json.loads(tested["inspectionData"]["input"]), {"n": 2})


machine, activity, definition = machines_and_activities()
executions(machine)
update(machine, definition)
tasks(machine, activity)
map_runs(machine, activity)
versions(machine)
express()
test_state()
client.delete_state_machine(stateMachineArn=machine)
eventually(lambda: machine not in [m["stateMachineArn"] for m in pages("list_state_machines", "stateMachines")])
refused("StateMachineDoesNotExist", client.describe_state_machine, stateMachineArn=machine)
client.delete_activity(activityArn=activity)
refused("ActivityDoesNotExist", client.describe_activity, activityArn=activity)
