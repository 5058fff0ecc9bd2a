package catalogimport_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/catalogimport"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// change is a part of a file and what stands in its place.
type change struct{ file, old, with string }

// Each check of the tables, with its place and what was meant.
func TestTables(t *testing.T) {
	t.Parallel()
	const services, jobs, signals, statuses, left, presence = "services.json", "jobs.json", "signals.json", "statuses.json", "left-out.json", "presence.json"
	const ends, polledOn = "waiter-ends.json", "polled-on.json"
	tests := []struct {
		name    string
		changes []change
		want    string
	}{
		{"not JSON", []change{{jobs, "[", ""}}, "jobs.json: 21:4: not valid JSON"},
		{"unknown member", []change{{jobs, `"minDelay": 10`, `"minDelays": 10`}}, `jobs.json: 2 problems:`},
		{"member of a job", []change{{jobs, `"minDelay": 10`, `"minDelays": 10`}}, `/0/minDelays: a job has no member "minDelays" (did you mean "minDelay"?)`},
		{"service of a job", []change{{jobs, `"service": "baker"`, `"service": "bakr"`}}, `/0/service: no model is of the service "bakr" (did you mean "baker"?)`},
		{"start", []change{{jobs, `"start": "StartLoaf"`, `"start": "StartLoav"`}}, `/0/start: baker has no operation "StartLoav" (did you mean "StartLoaf"?)`},
		{"describe", []change{{jobs, `"describe": "GetLoaf"`, `"describe": "GetLoav"`}}, `/0/describe: baker has no operation "GetLoav" (did you mean "GetLoaf"?)`},
		{"stop", []change{{jobs, `"operation": "StopLoaf"`, `"operation": "StopLoav"`}}, `/0/stop/operation: baker has no operation "StopLoav" (did you mean "StopLoaf"?)`},
		{"argument", []change{{jobs, `"ovenId": "output.ovenId"`, `"ovenID": "output.ovenId"`}}, `/0/arguments/ovenID: the input of GetLoaf has no member "ovenID" (did you mean "ovenId"?)`},
		{"required argument", []change{{jobs, `"account": "'me'"`, `"since": "'x'"`}}, `/0/arguments: GetLoaf needs the argument account`},
		{"stop argument", []change{{jobs, `"arguments": {"id": "output.id"}`, `"arguments": {}`}}, `/0/stop/arguments: StopLoaf needs the argument id`},
		{"expression", []change{{jobs, `"output.ovenId"`, `"output."`}}, `/0/arguments/ovenId: 1:8: `},
		{"misspelt member", []change{{jobs, `"output.ovenId"`, `"output.ovnId"`}}, `/0/arguments/ovenId: column 8: `},
		{"type of an argument", []change{{jobs, `"[output.Id]"`, `"output.Id"`}}, `/1/arguments/Ids: Ids is an array, and the expression gives a string`},
		{"type of elements", []change{{jobs, `"[output.Id]"`, "\"[`1`]\""}}, `/1/arguments/Ids: Ids is an array of strings, and the expression gives an array of numbers`},
		{"status", []change{{jobs, `"loaf.status"`, `"loaf.state"`}}, `/0/status: column 6: `},
		{"status that is not a string", []change{{jobs, `"loaf.status"`, `"loaf.weight"`}}, `/0/status: the status must be a string, and the expression gives`},
		{"message", []change{{jobs, `"loaf.reason"`, `"loaf.slices"`}}, `/0/message: the message must be a string, and the expression gives`},
		{"value outside the enum", []change{{jobs, `"BURNT", "STOPPED"`, `"BURNED", "STOPPED"`}}, `/0/failure: loaf.status never is "BURNED" (did you mean "BURNT"?)`},
		{"value in no set", []change{{jobs, `"RISING", "BAKING"`, `"RISING"`}}, `/0: loaf.status can be "BAKING", which is in none of success, failure and running`},
		{"value in two sets", []change{{jobs, `"RISING", "BAKING"`, `"RISING", "BAKING", "BAKED"`}}, `/0/running: the value "BAKED" is in success too; keep one`},
		{"value twice", []change{{jobs, `"RISING", "BAKING"`, `"RISING", "BAKING", "RISING"`}}, `/0/running/2: "RISING" stands twice in this list; keep one`},
		{"no success", []change{{jobs, `"success": ["BAKED"]`, `"success": []`}}, `/0: no value means success`},
		{"decision", []change{{jobs, `{"STOPPED": `, `{"STOPPING": `}}, `/0/decisions: the decision on "STOPPING" is on none of the job's values`},
		{"decision on many", []change{{jobs, `{"STOPPED": `, `{"OPENED_*": `}}, `/0/decisions: the decision on "OPENED_*" is on none`},
		{"decision on what is no failure", []change{{jobs, `{"STOPPED": "`, `{"BAKED": "partial: `}}, `/0/decisions: "BAKED" is marked "partial: " but is not in "failure": add it there, or remove the mark`},
		{"documented", []change{{jobs, `"status": "loaf.status"`, `"status": "loaf.status", "documented": true`}}, `/0/documented: documented must be false: the model lists 5 values of loaf.status`},
		{"not documented", []change{{jobs, `"loaf.status"`, `"loaf.reason"`}}, `documented must be true: the model lists 0 values of loaf.reason`},
		{"neither", []change{{jobs, `"status": "loaf.status",`, ``}}, `/0: a job needs a status and what its values mean, or acceptors`},
		{"both", []change{{jobs, `"acceptors":`, `"success": ["X"], "acceptors":`}}, `/1/acceptors: acceptors stand instead of the sets of values; keep one of them`},
		{"acceptors", []change{{jobs, `"Sacks[].State"`, `"Sacks[].Stat"`}}, `/1/acceptors/0/matcher/output/path: `},
		{"acceptors that are none", []change{{jobs, `"state": "success"`, `"state": "done"`}}, `/1/acceptors/0/state: `},
		{"value that no acceptor tells", []change{
			{jobs, `"status": "loaf.status",`, `"acceptors": [{"state": "success", "matcher": {"output": {"path": "loaf.status", "expected": "BAKED", "comparator": "stringEquals"}}}],`},
			{jobs, `"success": ["BAKED"],`, ``},
			{jobs, `"failure": ["BURNT", "STOPPED"],`, ``},
			{jobs, `"running": ["RISING", "BAKING"],`, ``},
		}, `/0/acceptors: loaf.status can be "BAKING", which no acceptor tells`},
		{"name of a waiter", []change{{jobs, `"LoafSucceeded"`, `"loafbaked"`}}, `/0/waiter: the name loafbaked is that of the waiter LoafBaked of baker already`},
		{"name of the start", []change{{jobs, `"LoafSucceeded"`, `"StartLoaf"`}}, `/0/waiter: the waiter needs a name of its own`},
		{"name that is none", []change{{jobs, `"LoafSucceeded"`, `"loaf-succeeded"`}}, `/0/waiter: waiter name "loaf-succeeded" must be UpperCamelCase`},
		{"name that is none, with acceptors", []change{{jobs, `"SackGround"`, `"sackGround"`}}, `/1/waiter: waiter name "sackGround" must be UpperCamelCase`},
		{"name of another job", []change{{jobs, `"service": "mill-v2"`, `"service": "baker", "start": "StartLoaf", "waiter": "LoafGone", "describe": "GetLoaf", "arguments": {"ovenId": "output.ovenId", "name": "output.id", "account": "'me'"}, "acceptors": [{"state": "success", "matcher": {"success": true}}], "minDelay": 1, "maxDelay": 2}, {"service": "mill-v2"`}}, `/1: the table is sorted, and "baker StartLoaf" comes before "baker StartLoaf"`},
		{"delays", []change{{jobs, `"maxDelay": 60`, `"maxDelay": 5`}}, `/0/maxDelay: maxDelay must be at least minDelay (10)`},
		{"sync", []change{{jobs, `"baker:startLoaf.sync"`, `"startLoaf"`}}, `/0/sync: expected an action such as glue:startJobRun.sync, found "startLoaf"`},
		{"source of sync", []change{{jobs, `"syncSource": "made up",`, ``}}, `/0/sync: sync and syncSource go together`},
		{"dependent action", []change{{jobs, `"oven:Heat"`, `"Heat"`}}, `/0/dependent/0/action: expected an IAM action such as s3:PutObject, found "Heat"`},
		{"not an array", []change{{jobs, `"failure": ["BURNT", "STOPPED"]`, `"failure": "BURNT"`}}, `/0/failure: expected an array, found a string ("BURNT")`},
		{"unknown service", []change{{services, `"baker"`, `"baked"`}}, `services.json: 2 problems:`},
		{"missing service", []change{{services, `"baker"`, `"baked"`}}, `the service "baker" has waiters or jobs and stands not in the table; by the rule it would be {"arnName": "baker", "errorPrefix": "Baker", "iamPrefix": "bakery"}`},
		{"order of services", []change{{services, `"mill-v2"`, `"a"`}}, `/a: the table is sorted, and "a" comes before "baker"`},
		{"empty name", []change{{services, `"arnName": "oven"`, `"arnName": ""`}}, `/oven/arnName: expected a word, found an empty string`},
		{"unused actions", []change{{services, `"GetLoaf"`, `"ListLoaves"`}}, `/baker/iamActions/ListLoaves: no waiter and no job of baker calls the operation ListLoaves`},
		{"actions without source", []change{{services, `"iamSource": "made up"`, `"source": "made up"`}}, `services.json: `},
		{"action", []change{{services, `"bakery:ReadOven"`, `"ReadOven:"`}}, `/baker/iamActions/GetLoaf/1: expected an IAM action such as s3:PutObject, found "ReadOven:"`},
		{"two ARNs in one", []change{{services, `"iamSource": "made up"`, `"resources": {"GetLoaf": ["arn:a, arn:b"]}, "resourcesSource": "made up", "iamSource": "made up"`}}, `/baker/resources/GetLoaf/0: expected one ARN, found "arn:a, arn:b"`},
		{"unused status", []change{{statuses, `"403"`, `"500"`}}, `oven/2021-06-01/waiters-2.json: `},
		{"status of the model", []change{{statuses, `{"403": "ShelfForbidden",`, `{"403": "ShelfForbidden", "500": "ShelfBroken",`}}, `/oven/DescribeShelf/500: no acceptor of a waiter of oven.DescribeShelf has the status 500`},
		{"no status", []change{{statuses, `"403"`, `"ok"`}}, `/oven/DescribeShelf/ok: expected an HTTP status from 300 to 599, found "ok"`},
		{"status without source", []change{{statuses, `, "source": "made up"`, ``}}, `/oven/DescribeShelf: an operation needs the member "source"`},
		{"event and none", []change{{signals, `["mill-v2:GrindSack"]`, `["mill-v2:GrindSack", "baker:StartLoaf"]`}}, `/withoutEvent/0: baker:StartLoaf stands twice, or has an event; keep one`},
		{"job without a word on events", []change{{signals, `{"jobs": ["mill-v2:GrindSack"], "source": "made up"}`, ``}}, `/1/start: signals.json does not say what event tells of mill-v2:GrindSack`},
		{"signals of no job", []change{{signals, `"mill-v2:GrindSack": {`, `"mill-v2:GrindSacks": {`}}, `/jobs/mill-v2:GrindSacks: jobs.json has no job "mill-v2:GrindSacks" (did you mean "mill-v2:GrindSack"?)`},
		{"event without source", []change{{signals, `"eventSource": "made up",`, ``}}, `/jobs/baker:StartLoaf/event: event and eventSource go together`},
		{"source of events", []change{{signals, `"aws.baker"`, `"baker"`}}, `/event/source: expected a source such as aws.athena, found "baker"`},
		{"path of a status", []change{{signals, `"detail.state"`, `"detail.states[0]"`}}, `/event/status: expected a path such as detail.state or "detail-type", found "detail.states[0]"`},
		{"path of a value", []change{{signals, `"detail.kind"`, `"detail."`}}, `/event/where/detail.: expected a path such as`},
		{"delivery", []change{{signals, `"best effort"`, `"best"`}}, `/event/delivery: expected one of durable, best effort, found "best"`},
		{"argument of an event", []change{{signals, `"argument": "name"`, `"argument": "nam"`}}, `/event/argument: column 1: `},
		{"argument that is not given", []change{{signals, `"argument": "name"`, `"argument": "labels.x"`}}, `/event/argument: the job gives GetLoaf no argument "labels"`},
		{"argument that is no string", []change{{signals, `"argument": "name"`, `"argument": "length(name)"`}}, `/event/argument: an id is a string, and the expression gives a number`},
		{"event without an end", []change{{signals, `"success": ["Baked"],`, ``}, {signals, `"failure": ["Burnt", "Stopped"],`, ``}}, `/jobs/baker:StartLoaf/event: no value says that the job has ended`},
		{"value of an event twice", []change{{signals, `["Burnt", "Stopped"]`, `["Burnt", "Stopped"], "ended": ["Burnt"]`}}, `/event: the value "Burnt" stands twice; keep one`},
		{"value that means something else", []change{{signals, `"success": ["Baked"]`, `"success": ["Baked", "Rising"]`}}, `/event/success: the value "Rising" means something else as a status of GetLoaf`},
		{"failure that is a success", []change{{signals, `["Burnt", "Stopped"]`, `["BAKED"]`}}, `/event/failure: the value "BAKED" means something else as a status of GetLoaf`},
		{"detail-types", []change{{signals, `"detail.state"`, `"\"detail-type\""`}}, `/event/detailTypes: the detail-type is the status, so its values must be all detailTypes`},
		{"switch", []change{{signals, `"after": "/",`, `"after": "/", "switch": "recipe",`}}, `/event/switch: the input of StartLoaf has no boolean "recipe"`},
		{"name of an event", []change{{signals, `"after": "/",`, `"after": "/", "names": {"detail.oven": "oven"},`}}, `/event/names: the input of StartLoaf has no string "oven"`},
		{"path of a name", []change{{signals, `"after": "/",`, `"after": "/", "names": {"detail.": "oven"},`}}, `/event/names/detail.: expected a path such as`},
		{"topic", []change{{signals, `"recipe.flour"`, `"recipe.parts"`}}, `/topic: a topic is a string, and the path gives`},
		{"topic of nobody", []change{{signals, `"recipe.flour"`, `"recipe.flower"`}}, `/topic: column 8: `},
		{"delay of no sync", []change{{signals, `"batchSource"`, `"syncDelay": 60, "syncDelaySource": "x", "batchSource"`}}, `/jobs/mill-v2:GrindSack/syncDelay: the job has no sync in jobs.json`},
		{"argument after sync", []change{{signals, `"ovenId": "output.OvenId"`, `"oven": "output.OvenId"`}}, `/jobs/baker:StartLoaf/syncArguments/oven: the input of GetLoaf has no member "oven"`},
		{"arguments of no sync", []change{{signals, `"batchSource"`, `"syncArguments": {"Ids": "['x']"}, "syncArgumentsSource": "x", "batchSource"`}}, `/jobs/mill-v2:GrindSack/syncArguments: the job has no sync in jobs.json`},
		{"nothing after sync", []change{{signals, `,
      "syncArguments": {"ovenId": "output.OvenId", "name": "output.Loaf.Id", "account": "'me'"},
      "syncArgumentsSource": "made up"`, ``}}, `expected syncArguments or syncUnknown exactly where the arguments of GetLoaf read the output of StartLoaf`},
		{"known and unknown after sync", []change{{signals, `"syncArgumentsSource"`, `"syncUnknown": "x", "syncArgumentsSource"`}}, `/jobs/baker:StartLoaf/syncArguments: the arguments of GetLoaf need no output of the Task, or it is unknown`},
		{"batch operation", []change{{signals, `"DescribeSack"`, `"DescribeSacks"`}}, `/batch/operation: mill-v2 has no operation "DescribeSacks" (did you mean "DescribeSack"?)`},
		{"ids", []change{{signals, `"ids": "Ids"`, `"ids": "Id"`}}, `/batch/ids: the input of DescribeSack has no list "Id"`},
		{"most ids", []change{{signals, `"max": 5`, `"max": 11`}}, `/batch/max: Ids of DescribeSack takes at most 10`},
		{"id of a batch", []change{{signals, `"Ids[0]"`, `"[Ids]"`}}, `/batch/argument: an id of DescribeSack is a string, and the expression gives`},
		{"argument that no id has", []change{{signals, `"Ids[0]"`, `"'x'"`}}, `/batch: the argument Ids of DescribeSack is not in the ids; jobs of one call must share it`},
		{"shared argument", []change{{signals, `"Ids[0]",`, `"Ids[0]", "shared": ["Oven"],`}}, `/batch/shared: DescribeSack and DescribeSack have no such member "Oven"`},
		{"elements", []change{{signals, `"elements": "Sacks"`, `"elements": "Sacks[0]"`}}, `/batch/elements: expected the path of a list in the answer of DescribeSack`},
		{"id of an element", []change{{signals, `"id": "Detail"`, `"id": "Details"`}}, `/batch/id: column 1: `},
		{"answer", []change{{signals, `"Sacks[]"`, `"Sack[]"`}}, `/batch/answer: DescribeSack has no member "Sack" in its answer`},
		{"answer that is one element", []change{{signals, `"Sacks[]"`, `"Sacks"`}}, `/batch/answer: `},
		{"missing ids", []change{{signals, `"omitted"`, `"gone"`}}, `/batch/missing: expected one of omitted, listed, refused, found "gone"`},
		{"left out twice", []change{{left, `[{`, `[{"service": "shop", "name": "DoorOpen", "reason": "x"}, {`}}, `/1: DoorOpen of shop stands twice; keep one`},
		{"left out and there", []change{{left, `[{`, `[{"service": "baker", "name": "StartLoaf", "reason": "x"}, {`}}, `/0/start: StartLoaf of baker stands in left-out.json too; keep one`},
		{"member that is there later", []change{{presence, `"loaf.slices"`, `"loaf.slicez"`}}, `/baker/GetLoaf/loaf.slicez: the answer of GetLoaf has no member loaf.slicez`},
		{"when it is there", []change{{presence, `"success"`, `"never"`}}, `/baker/GetLoaf/loaf.slices: expected one of ["failure" "end" "success" "end-or-never" "first" "part" "any"] as "when", found "never"`},
		{"no source of a presence", []change{{presence, `"success", "source": "made up"`, `"success"`}}, `/baker/GetLoaf/loaf.slices: `},
		{"order of presences", []change{{presence, `"loaf.bakedAt"`, `"loaf.weight"`}}, `the table is sorted, and "loaf.slices" comes before "loaf.weight"`},
		{"presence of no job", []change{{presence, `"GetLoaf"`, `"StopLoaf"`}}, `/baker/StopLoaf/loaf.bakedAt: baker has no operation StopLoaf that reads; remove the row`},
		{"value that nobody has seen", []change{{polledOn, `"RISING", "BAKING"`, `"RISING"`}}, `/baker/LoafBaked/loaf.status: loaf.status of baker LoafBaked can be "BAKING", which no acceptor tells: if it is an end, write it into waiter-ends.json, else into this table`},
		{"waiter that nobody has seen", []change{{polledOn, `"LoafBaked"`, `"LoafBakd"`}}, `/baker: loaf.status of baker LoafBaked can be "RISING"`},
		{"value that polls on no more", []change{{polledOn, `"RISING", "BAKING"`, `"RISING", "BAKING", "BURNT"`}}, `/baker/LoafBaked/loaf.status: LoafBaked judges the value "BURNT", or its model does not have it; remove it`},
		{"polled on by no waiter", []change{{polledOn, `"LoafSliced": {`, `"LoafCut": {"loaf.status": []}, "LoafSliced": {`}}, `/baker/LoafCut/loaf.status: baker has no waiter LoafCut of AWS's with a status at loaf.status; remove it`},
		{"end that the waiter knows", []change{{ends, `"STOPPED"`, `"BURNT"`}}, `/baker/LoafBaked/0: LoafBaked judges the value "BURNT" already; remove it`},
		{"end that stands twice", []change{{ends, `"made up"}`, `"made up"}, {"path": "loaf.status", "values": ["STOPPED"], "source": "x"}`}}, `/baker/LoafBaked/1: LoafBaked judges the value "STOPPED" already; remove it`},
		{"end that the model does not have", []change{{ends, `"STOPPED"`, `"STOPED"`}}, `/baker/LoafBaked/0: loaf.status never is "STOPED" (did you mean "STOPPED"?)`},
		{"end of things that the model does not have", []change{{ends, `[].status", "values": ["STOPPED"]`, `[].status", "values": ["GONE"]`}}, `/baker/LoafSliced/0: loaf.slices[].status never is "GONE"`},
		{"end of another member", []change{{ends, `"loaf.status"`, `"loaf.state"`}}, `/baker/LoafBaked/0: no acceptor of LoafBaked reads loaf.state`},
		{"end without a source", []change{{ends, `, "source": "made up"`, ``}}, `/baker/LoafBaked/0: `},
		{"end without a value", []change{{ends, `["STOPPED"]`, `[]`}}, `/baker/LoafBaked/0: a row needs at least one value`},
		{"end of no waiter", []change{{ends, `"LoafBaked"`, `"LoafBakd"`}, {polledOn, `"loaf.status": [`, `"loaf.status": ["STOPPED", `}}, `/baker/LoafBakd/0: baker has no waiter LoafBakd of AWS's; remove it`},
		{"end of a job", []change{{ends, `"LoafSliced"`, `"LoafSucceeded"`}, {polledOn, `[].status": [`, `[].status": ["STOPPED", `}}, `/baker/LoafSucceeded/0: baker has no waiter LoafSucceeded of AWS's; remove it`},
		{"order of ends", []change{{ends, `"LoafBaked"`, `"LoafZ"`}}, `the table is sorted, and "LoafSliced" comes before "LoafZ"`},
		{"service without anything", []change{{left, `[{`, `[{"service": "shop", "name": "ShelfFull", "reason": "x"}, {`}}, `/shop: the service "shop" has no waiter and no job; remove it`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tables := folder(t, "tables")
			for _, c := range tt.changes {
				edit(t, tables, c.file, c.old, c.with)
			}
			_, err := catalogimport.Import(catalogimport.Sources{Botocore: folder(t, "botocore"), Tables: tables})
			require.ErrorContains(t, err, tt.want)
			if !strings.Contains(tt.want, "waiters-2.json") {
				require.ErrorIs(t, err, catalogimport.ErrTable)
			}
		})
	}
}

// All that is wrong comes at once, and can be taken apart.
func TestErrorsAtOnce(t *testing.T) {
	t.Parallel()
	data, tables := folder(t, "botocore"), folder(t, "tables")
	edit(t, tables, "jobs.json", `"loaf.status"`, `"loaf.state"`)
	edit(t, tables, "jobs.json", `"Sacks[].State"`, `"Sacks[].Stat"`)
	edit(t, tables, "services.json", `"made up"`, `""`)
	edit(t, data, "shop/2020-02-02/service-2.json", `"type": "boolean"`, `"type": "bool"`)
	edit(t, data, "yeast/2016-11-15/service-2.json", `["ec2"]`, `["ec3"]`)
	_, err := catalogimport.Import(catalogimport.Sources{Botocore: data, Tables: tables})
	require.ErrorIs(t, err, catalogimport.ErrModel)
	require.ErrorIs(t, err, catalogimport.ErrTable)
	for _, want := range []string{
		"jobs.json: 2 problems:", "/0/status: column 6", "/1/acceptors/0/matcher/output/path", "services.json: 6:15: /baker/source: expected a word, found an empty string",
		`shop/2020-02-02/service-2.json: operation DescribeShelf: shape Shelf: member Full: shape boolean: the type "bool" is not known`,
		`yeast/2016-11-15/service-2.json: the protocol "ec3" is not known; known are smithy-rpc-v2-cbor, json, rest-json, rest-xml, query, ec2`,
	} {
		require.ErrorContains(t, err, want)
	}
	file, ok := find(err, "jobs.json")
	require.True(t, ok)
	var problems diag.Problems
	require.ErrorAs(t, file, &problems)
	require.Len(t, problems, 2)
	require.Equal(t, "/0/status", problems[0].Pointer)
	require.Positive(t, problems[0].Line)
}

// find returns the error of a file in a tree of errors.
func find(err error, name string) (*catalogimport.FileError, bool) {
	if file, ok := err.(*catalogimport.FileError); ok && file.File == name { //nolint:errorlint // the tree is walked by hand
		return file, true
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			if file, ok := find(e, name); ok {
				return file, true
			}
		}
	}
	return nil, false
}

func TestModels(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		changed change
		want    string
	}{
		{"not JSON", change{"till/2022-03-03/service-2.json", "{", ""}, "till/2022-03-03/service-2.json: invalid character"},
		{"metadata", change{"till/2022-03-03/service-2.json", `"serviceId": "Till"`, `"serviceId": ""`}, "its metadata needs serviceId, endpointPrefix and apiVersion"},
		{"target", change{"till/2022-03-03/service-2.json", `"targetPrefix": "TillService"`, `"targetPrefix": ""`}, "its metadata needs jsonVersion and targetPrefix for the protocol json"},
		{"location", change{"baker/2024-05-01/service-2.json", `"location": "statusCode"`, `"location": "footer"`}, `operation GetLoaf: shape GetLoafResponse: member code: the location "footer" is not known`},
		{"format", change{"baker/2024-05-01/service-2.json", `"timestampFormat": "rfc822"`, `"timestampFormat": "stardate"`}, `the timestamp format "stardate" is not known`},
		{"missing shape", change{"baker/2024-05-01/service-2.json", `"Ids": {`, `"IDs": {`}, `there is no shape "Ids"`},
		{"missing error", change{"baker/2024-05-01/service-2.json", `"Busy": {`, `"Bussy": {`}, `operation GetLoaf: there is no shape "Busy", which its errors name`},
		{"name of a type", change{"baker/2024-05-01/service-2.json", `"shape": "Loaf"}`, `"shape": "document"}`}, `there is no shape "document"`},
		{"operation of a waiter", change{"till/2022-03-03/waiters-2.json", `"DescribeShelf"`, `"DescribeShelv"`}, `till/2022-03-03/service-2.json: there is no operation "DescribeShelv" (did you mean "DescribeShelf"?)`},
		{"waiter", change{"till/2022-03-03/waiters-2.json", `"delay": 10`, `"delay": 0`}, `till/2022-03-03/waiters-2.json: 6:16: /waiters/ShelfFull/delay`},
		{"status", change{"oven/2021-06-01/waiters-2.json", `"expected": 404`, `"expected": 409`}, "status 409 of DescribeShelf has no Smithy form"},
		{"rules", change{"baker/2024-05-01/endpoint-rule-set-1.json", `"fn": "not"`, `"fn": "nor"`}, "baker/2024-05-01/endpoint-rule-set-1.json: operation GetLoaf: the function nor with 1 arguments is not supported"},
		{"URL of rules", change{"baker/2024-05-01/endpoint-rule-set-1.json", "https://boulanger", "http://boulanger"}, `in eu-west-1 the rules lead to "http://boulanger.eu-west-1.amazonaws.com", which is not an address of a host`},
		{"text of rules", change{"baker/2024-05-01/endpoint-rule-set-1.json", "https://baker.{Region}", "https://baker.{Zone}"}, `has no value for {Zone}`},
		{"attribute of rules", change{"baker/2024-05-01/endpoint-rule-set-1.json", "{P#dnsSuffix}\"", "{Region#dnsSuffix}\""}, "the attribute dnsSuffix of eu-west-1 is not supported"},
		{"partitions", change{"partitions.json", `"dnsSuffix": "amazonaws.com"`, `"dnsSuffix": ""`}, "partitions.json: a partition needs an id and the output dnsSuffix"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			data := folder(t, "botocore")
			edit(t, data, tt.changed.file, tt.changed.old, tt.changed.with)
			_, err := catalogimport.Import(catalogimport.Sources{Botocore: data, Tables: folder(t, "tables")})
			require.ErrorContains(t, err, tt.want)
			require.ErrorIs(t, err, catalogimport.ErrModel)
		})
	}
}

func TestSmithyModels(t *testing.T) {
	t.Parallel()
	const waitable = `"smithy.waiters#waitable": {"Done": {"acceptors": [{"state": "success", "matcher": {"success": true}}]}}`
	model := func(shapes string) catalogimport.File {
		return catalogimport.File{Name: "m.json", Text: []byte(`{"smithy": "2.0", "shapes": {` + shapes + `}}`)}
	}
	service := `"a#S": {"type": "service", "version": "1", "operations": [{"target": "a#Get"}]}, `
	for name, tt := range map[string]struct{ shapes, want string }{
		"not a model":    {`"a": 3`, "m.json: 2 problems:"},
		"no service":     {`"a#Get": {"type": "operation", "traits": {` + waitable + `}}`, "the waiter Done of a#Get belongs to no service; the model needs the service shape"},
		"missing shape":  {service + `"a#Get": {"type": "operation", "output": {"target": "a#Out"}, "traits": {` + waitable + `}}`, `m.json: operation Get: there is no shape "a#Out"`},
		"missing error":  {service + `"a#Get": {"type": "operation", "errors": [{"target": "a#E"}], "traits": {` + waitable + `}}`, `there is no shape "a#E", which its errors name`},
		"not data":       {service + `"a#Get": {"type": "operation", "output": {"target": "a#S"}, "traits": {` + waitable + `}}`, `shape a#S: the type "service" is not one of data`},
		"empty list":     {service + `"a#Get": {"type": "operation", "output": {"target": "a#L"}, "traits": {` + waitable + `}}, "a#L": {"type": "list"}`, "shape a#L: it does not say what it holds"},
		"format":         {service + `"a#Get": {"type": "operation", "output": {"target": "a#O"}, "traits": {` + waitable + `}}, "a#O": {"type": "structure", "members": {"t": {"target": "smithy.api#Timestamp", "traits": {"smithy.api#timestampFormat": "stardate"}}}}`, `the timestamp format "stardate" is not known`},
		"trait":          {service + `"a#Get": {"type": "operation", "traits": {"smithy.api#http": 3, ` + waitable + `}}`, "operation Get: trait smithy.api#http: json: cannot unmarshal number"},
		"clash":          {service + `"a#Get": {"type": "operation", "output": {"target": "a#O"}, "traits": {` + waitable + `}}, "a#O": {"type": "structure", "members": {"x": {"target": "a#X"}, "y": {"target": "b#X"}}}, "a#X": {"type": "structure"}, "b#X": {"type": "structure"}`, "two shapes have the name X in the service: a#X and b#X"},
		"name of a type": {service + `"a#Get": {"type": "operation", "output": {"target": "a#blob"}, "traits": {` + waitable + `}}, "a#blob": {"type": "structure"}`, "shape blob: the catalogue keeps this name for the type"},
		"nothing":        {service + `"a#Get": {"type": "operation"}`, "no service has a waiter or a job"},
		"name of a file": {strings.Replace(service, `"1"`, `"1", "traits": {"aws.api#service": {"sdkId": "../../etc"}}`, 1) + `"a#Get": {"type": "operation", "traits": {` + waitable + `}}`, `the service "../../etc" would be called "../../etc", which must be letters, digits and hyphens`},
		"index":          {strings.Replace(service, `"1"`, `"1", "traits": {"aws.api#service": {"sdkId": "Index"}}`, 1) + `"a#Get": {"type": "operation", "traits": {` + waitable + `}}`, `and not index`},
		"same key":       {service + `"a#Get": {"type": "operation", "traits": {` + waitable + `}}, "b#s": {"type": "service", "version": "1"}`, `m.json: the service "s" would be called s, as "S" of m.json is`},
		"enum value":     {service + `"a#Get": {"type": "operation", "output": {"target": "a#E"}, "traits": {` + waitable + `}}, "a#E": {"type": "enum", "members": {"A": {"target": "smithy.api#Unit", "traits": {"smithy.api#enumValue": 1}}}}`, "member A: trait smithy.api#enumValue"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := catalogimport.Import(catalogimport.Sources{Smithy: []catalogimport.File{model(tt.shapes)}})
			require.ErrorContains(t, err, tt.want)
			require.ErrorIs(t, err, catalogimport.ErrModel)
		})
	}
	_, err := catalogimport.Import(catalogimport.Sources{Botocore: fstest.MapFS{"x/y.json": {Data: []byte("{}")}}})
	require.ErrorContains(t, err, "expected the folder botocore/data")
	_, err = catalogimport.Import(catalogimport.Sources{Smithy: smithyModels(t), Tables: fstest.MapFS{}})
	require.ErrorContains(t, err, "services.json: the folder has no such table")
}

// The latest version of a service counts, and a service without an sdkId has
// its shape's name.
func TestSmithyVersions(t *testing.T) {
	t.Parallel()
	version := func(of string) catalogimport.File {
		return catalogimport.File{Name: of, Text: []byte(`{"smithy": "2.0", "shapes": {
			"a#OrderDesk": {"type": "service", "version": "` + of + `", "operations": [{"target": "a#Get"}]},
			"a#Get": {"type": "operation", "traits": {"smithy.waiters#waitable": {"Done": {"acceptors": [{"state": "success", "matcher": {"success": true}}]}}}}}}`)}
	}
	c, err := catalogimport.Import(catalogimport.Sources{Smithy: []catalogimport.File{version("2021-01-01"), version("2023-01-01"), version("2022-01-01")}})
	require.NoError(t, err)
	require.Len(t, c.Services, 1)
	text, err := json.Marshal(c.Services[0].Listing())
	require.NoError(t, err)
	require.JSONEq(t, `{"name": "OrderDesk", "key": "orderdesk", "arnName": "orderdesk", "errorPrefix": "OrderDesk", "iamPrefix": "orderdesk",
		"entries": [{"name": "Done", "kind": "waiter", "waiter": "Done", "operation": "Get"}]}`, string(text))
	require.Equal(t, "2023-01-01", c.Services[0].APIVersion)
}

// A service may have a shape with the name of one that every model has.
func TestSmithyPrelude(t *testing.T) {
	t.Parallel()
	c, err := catalogimport.Import(catalogimport.Sources{Smithy: []catalogimport.File{{Name: "m.json", Text: []byte(`{"smithy": "2.0", "shapes": {
		"a#S": {"type": "service", "version": "1", "operations": [{"target": "a#Get"}]},
		"a#Get": {"type": "operation", "output": {"target": "a#Out"},
			"traits": {"smithy.waiters#waitable": {"Done": {"acceptors": [{"state": "success", "matcher": {"success": true}}]}}}},
		"a#Out": {"type": "structure", "members": {"own": {"target": "a#String"}, "text": {"target": "smithy.api#String"}}},
		"a#String": {"type": "structure", "members": {"a": {"target": "smithy.api#Integer"}}}}}`)}}})
	require.NoError(t, err)
	out := c.Services[0].Operations["Get"].Output
	require.Equal(t, catalog.Structure, out.Member("own").Shape.Type)
	require.Equal(t, catalog.String, out.Member("text").Shape.Type)
}
