package awsjob_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// driverOf makes a driver for an entry of the test catalogue.
func driverOf(t *testing.T, name string) jobs.Maker {
	t.Helper()
	c := fixtures(t)
	return func(e jobs.Environment) (jobs.Driver, error) { return awsjob.NewDriver(e.AWS, c.Catalog, name) }
}

func TestConformanceAWSJSON(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, jobstest.Case{
		Maker:   driverOf(t, "ovens:StartBake"),
		Service: func(*testing.T) jobstest.Service { return newOvens() },
		Arguments: `{
			"Recipe": "rye", "Loaves": 4, "Heat": {"Degrees": 220.5, "Mode": "TOP"}, "Due": "2026-11-21T12:00:00Z",
			"Toppings": ["seeds"], "Labels": {"day": "sat"}, "Glaze": {"Egg": true}, "Photo": "AAE=", "Extra": {"any": [1, null]}
		}`,
		Required: []string{"Recipe"},
		Reserved: []string{"ClientToken"},
		AnyJSON:  []string{"Extra"},
		Bad: []jobstest.BadArguments{
			{Name: "missing inside", Arguments: `{"Recipe": "rye", "Heat": {}}`, Want: `/Heat: the structure Heat needs the member "Degrees"`},
			{Name: "an enum of nothing", Arguments: `{"Recipe": "rye", "Heat": {"Degrees": 1, "Mode": ""}}`, Want: "/Heat/Mode: expected a value of HeatMode"},
			{Name: "two members of a union", Arguments: `{"Recipe": "rye", "Glaze": {"Egg": true, "Sugar": "x"}}`, Want: "/Glaze: expected one member of the union Glaze, found 2"},
			{Name: "too large", Arguments: `{"Recipe": "rye", "Loaves": 2147483648}`, Want: "/Loaves: expected a whole number of 32 bits"},
			{Name: "no base64", Arguments: `{"Recipe": "rye", "Photo": "?"}`, Want: "/Photo: expected a blob in base64"},
			{Name: "no timestamp", Arguments: `{"Recipe": "rye", "Due": "noon"}`, Want: "/Due: expected a timestamp"},
			{Name: "a value of a map", Arguments: `{"Recipe": "rye", "Labels": {"a": 1}}`, Want: "/Labels/a: expected a string"},
			{Name: "a secret stays out", Arguments: `{"Recipe": "rye", "Loaves": "hunter2"}`, Want: "/Loaves: expected a whole number of 32 bits, found a string\n"},
		},
		Timestamps: []string{},
		Statuses:   jobstest.Statuses{Running: []string{"QUEUED", "BAKING"}, Success: []string{"BAKED"}, Failure: []string{"BURNT", "STOPPED"}},
		Reason:     "forgotten",
		Actions:    map[string]string{"StartBake": "oven:StartBake", "DescribeBakes": "oven:DescribeBakes", "StopBake": "oven:StopBake"},
	})
}

func TestConformanceRESTJSON(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, jobstest.Case{
		Maker:     driverOf(t, "gardens:CreateHarvest"),
		Service:   func(*testing.T) jobstest.Service { return gardens{jobstest.NewJobs("GROWING")} },
		Arguments: `{"BedName": "north/1 é", "Requester": "me", "Crops": ["kale"], "Dry": false, "Tags": ["a", "b"], "More": {"x": "y"}, "Meta": {"k": "v"}}`,
		Required:  []string{"BedName"},
		Bad: []jobstest.BadArguments{
			{Name: "an empty label", Arguments: `{"BedName": ""}`, Want: "/BedName: expected a string that is not empty"},
		},
		Timestamps: []string{"Harvest.StartedAt", "Modified"},
		Statuses:   jobstest.Statuses{Running: []string{"GROWING"}, Success: []string{"IN"}, Failure: []string{"ROTTEN"}},
		Reason:     "too much rain",
		Actions:    map[string]string{"CreateHarvest": "garden:CreateHarvest", "GetHarvest": "garden:GetHarvest"},
	})
}

// newOvens is the part of the oven service that bakes.
func newOvens() jobstest.JSONService {
	bakes := jobstest.NewJobs("QUEUED")
	missing := func(id string) error {
		return jobstest.Refusal{Code: "com.example.ovens#NoSuchThing", Message: "there is no bake " + id}
	}
	return jobstest.JSONService{
		Jobs: bakes, Version: "1.1", Target: "OvenControl_20260102",
		Operations: map[string]func(map[string]any) (any, error){
			"StartBake": func(in map[string]any) (any, error) {
				token, _ := in["clientToken"].(string)
				bake, err := bakes.Start(token, in, jobstest.Refusal{Code: "Mismatch"})
				return map[string]any{"bake": map[string]any{"id": bake.ID, "kitchen": "main"}}, err
			},
			"DescribeBakes": func(in map[string]any) (any, error) {
				found := []any{}
				ids, _ := in["bakeIds"].([]any)
				for _, id := range ids {
					name, _ := id.(string)
					bake, ok := bakes.ByID(name)
					if !ok {
						return nil, missing(name)
					}
					b := map[string]any{
						"id": bake.ID, "kitchen": in["kitchen"], "recipe": bake.Parameters["recipe"], "state": bake.Status, "startedAt": 1795000000.5,
						"stateReason": nil, "smell": "good",
					}
					if bake.Status == "BURNT" {
						b["stateReason"] = "forgotten"
					}
					found = append(found, b)
				}
				return map[string]any{"bakes": found}, nil
			},
			"StopBake": func(in map[string]any) (any, error) {
				id, _ := in["id"].(string)
				bake, ok := bakes.ByID(id)
				switch {
				case !ok || in["kitchen"] != "main":
					return nil, missing(id)
				case bake.Status == "QUEUED" || bake.Status == "BAKING":
					bakes.SetJobStatus(id, "STOPPED")
					return map[string]any{}, nil
				default:
					return nil, jobstest.Refusal{Code: "NotBaking"}
				}
			},
		},
	}
}

// gardens is a service that speaks restJson1.
type gardens struct{ *jobstest.Jobs }

// Operation implements jobstest.Service.
func (gardens) Operation(r *http.Request) string {
	if r.Method == http.MethodPut {
		return "CreateHarvest"
	}
	return "GetHarvest"
}

// Fail implements jobstest.Service.
func (gardens) Fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("X-Amzn-Errortype", code+":http://example.com/")
	answerJSON(w, status, map[string]string{"message": "so says the script"})
}

// ServeHTTP implements http.Handler.
func (g gardens) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.Operation(r) == "CreateHarvest" {
		g.create(w, r)
		return
	}
	harvest, ok := g.ByID(strings.TrimPrefix(r.URL.Path, "/harvests/"))
	if !ok {
		g.Fail(w, http.StatusNotFound, "NotFoundException")
		return
	}
	w.Header().Set("ETag", `"7"`)
	w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 12:00:00 GMT")
	body := map[string]any{"harvestStatus": harvest.Status, "startedAt": "2026-11-21T12:00:00.5Z", "yield": 1.5, "soil": nil}
	if harvest.Status == "ROTTEN" {
		body["reason"] = "too much rain"
	}
	answerJSON(w, http.StatusOK, body)
}

func (g gardens) create(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	if bed := r.URL.EscapedPath(); bed != "/beds/north/1%20%C3%A9/harvests" {
		g.Fail(w, http.StatusBadRequest, fmt.Sprintf("Wrong path %q", bed))
		return
	}
	harvest, _ := g.Create(strconv.Itoa(g.Starts()), map[string]any{"body": string(body)}, jobstest.Refusal{})
	answerJSON(w, http.StatusCreated, map[string]any{"harvestId": harvest.ID})
}

func answerJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that is gone is no concern of the service
}

// What a reference holds, and what of it the calls send.
func TestRef(t *testing.T) {
	t.Parallel()
	ovens := newOvens()
	server := newScripted(t)
	server.Config.Handler = ovens
	d := mustDriver(t, "ovens:StartBake", server.URL)
	ref, err := d.Start(t.Context(), jobs.Request{Arguments: json.RawMessage(`{"Recipe": "rye"}`), Token: "t"})
	require.NoError(t, err)
	require.Equal(t, jobs.Ref{"BakeIds": `["job-1"]`, "Kitchen": "main", "Stop.Id": "job-1"}, ref)
	out, err := d.Describe(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"Bakes": []any{map[string]any{
		"Id": "job-1", "Kitchen": "main", "Recipe": "rye", "State": "QUEUED", "StartedAt": "2026-11-18T11:06:40.5Z",
	}}}, out)
	for _, tt := range []struct {
		name, want string
		ref        jobs.Ref
	}{
		{"no JSON", `has the member "BakeIds", which is not JSON`, jobs.Ref{"BakeIds": "job-1"}},
		{"another type", "/BakeIds: expected an array", jobs.Ref{"BakeIds": "7"}},
		{"unknown member", `has the member "Oven", which the input of DescribeBakes does not have`, jobs.Ref{"BakeIds": `["job-1"]`, "Oven": "1"}},
		{"missing member", `needs the member "BakeIds"`, jobs.Ref{"Kitchen": "main"}},
		{"for the stop call alone", "is empty", jobs.Ref{"Stop.Id": "job-1"}},
	} {
		_, err := d.Describe(t.Context(), tt.ref)
		require.ErrorContains(t, err, tt.want, tt.name)
	}
}

// A start call whose answer does not name the job leaves open whether there is
// one.
func TestStartWithoutAnID(t *testing.T) {
	t.Parallel()
	server := newScripted(t, answer{body: `{}`})
	d := mustDriver(t, "gardens:CreateHarvest", server.URL)
	_, err := d.Start(t.Context(), jobs.Request{Arguments: json.RawMessage(`{"BedName": "b"}`)})
	require.EqualError(t, err, "gardens:CreateHarvest: the start call returned no output.harvestId, which the describe and stop calls need")
	require.True(t, goerror.Classify(err).MayHaveActed())
	require.Len(t, server.take(), 1)

	// Nor does one without any of several members that none of them needs.
	text, err := os.ReadFile("testdata/ovens.json")
	require.NoError(t, err)
	loose := strings.Replace(string(text), `{"target": "Texts", "required": true}`, `"Texts"`, 1)
	loose = strings.Replace(loose, `"bakeIds": "[output.bake.id]"`, `"bakeIds": "output.bake.ids"`, 1)
	d, err = awsjob.NewDriver(config(server.URL), catalogOf(t, service(t, loose)).Catalog, "ovens:StartBake")
	require.NoError(t, err)
	_, err = d.Start(t.Context(), jobs.Request{Arguments: json.RawMessage(`{"Recipe": "rye"}`), Token: "t"})
	require.EqualError(t, err, "ovens:StartBake: the start call returned no reference to the job")
}

// The driver of a waiter starts nothing.
func TestPollOnly(t *testing.T) {
	t.Parallel()
	server := newScripted(t, answer{body: `{"bakes": [{"state": "BAKED"}, {"state": "BAKING"}]}`}, answer{body: `{"bakes": [{"state": "BAKED"}]}`},
		answer{status: http.StatusBadRequest, body: `{"__type": "ovens#NoSuchBake", "message": "gone"}`})
	d := mustDriver(t, "ovens:BakeOver", server.URL)
	request := jobs.Request{Arguments: json.RawMessage(`{"BakeIds": ["b-1", "b-2"], "Kitchen": "main"}`), Token: "t"}
	ref, err := d.Start(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, jobs.Ref{"BakeIds": `["b-1","b-2"]`, "Kitchen": "main"}, ref)
	finder, ok := d.(jobs.Finder)
	require.True(t, ok)
	again, found, err := finder.Find(t.Context(), request)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, ref, again)
	_, stops := d.(jobs.Stopper)
	require.False(t, stops)
	require.Equal(t, jobs.Idempotency{Class: jobs.ByNaturalKey}, d.Idempotency(request))
	require.Equal(t, []access.Permission{{Action: "oven:DescribeBakes", For: access.ForDescribe, Resource: "*"}}, d.Permissions())
	require.Empty(t, server.take(), "nothing is called before it is polled")

	check, err := pollcore.Compile[jobs.Ref, any](d.Waiter())
	require.NoError(t, err)
	for _, want := range []pollcore.Verdict{pollcore.Retry, pollcore.Success, pollcore.Success} {
		out, err := d.Describe(t.Context(), ref)
		require.Equal(t, want, check.Check(ref, out, err).Verdict, "%v %v", out, err)
	}
	require.JSONEq(t, `{"bakeIds": ["b-1", "b-2"], "kitchen": "main"}`, server.take()[0].Body)

	for arguments, want := range map[string]string{
		`{}`:                              `needs the member "BakeIds"`,
		`{"BakeIds": "b-1"}`:              "1:13: /BakeIds: expected an array, found a string",
		`{"BakeIds": [], "Kitche": "x"}`:  `did you mean "Kitchen"?`,
		`{"BakeIds": [], "bakeIds": [1]}`: `has no member "bakeIds"`,
	} {
		_, err := d.Start(t.Context(), jobs.Request{Arguments: json.RawMessage(arguments)})
		require.ErrorIs(t, err, jobs.ErrArguments)
		require.ErrorContains(t, err, want)
		_, found, err := finder.Find(t.Context(), jobs.Request{Arguments: json.RawMessage(arguments)})
		require.ErrorIs(t, err, jobs.ErrArguments)
		require.False(t, found)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	c := fixtures(t)
	for name, want := range map[string]string{
		"ovens:StartBak":      `ovens has no waiter or job "StartBak" (did you mean "StartBake"?)`,
		"Ovens:StartBake":     `the catalogue has no job or waiter "Ovens:StartBake" (did you mean "ovens:StartBake"?)`,
		"oven:BakeSucceeded":  `the catalogue has no job or waiter "oven:BakeSucceeded" (did you mean "ovens:BakeSucceeded"?)`,
		"StartBake":           `(did you mean "ovens:StartBake"?)`,
		"ovens:start-bake":    `did you mean "ovens:StartBake"?`,
		"ovens:bakeSucceeded": `did you mean "ovens:BakeSucceeded"?`,
		"ovens":               `the catalogue has no job or waiter "ovens": expected a service and a name, such as dynamodb:ExportCompleted`,
		"ovens:":              "ovens has no waiter or job",
		"nothing:StartBake":   `has no service "nothing"`,
	} {
		_, err := awsjob.NewDriver(config("https://example.com"), c.Catalog, name)
		require.ErrorIs(t, err, jobs.ErrUnknownJob, name)
		require.ErrorContains(t, err, want)
	}
	// The IAM action of the start call stands for the job.
	require.Equal(t, "oven:StartBake", mustDriver(t, "oven:StartBake", "https://example.com").Name())
	// The waiter of a job waits for what another has started.
	d := mustDriver(t, "ovens:BakeSucceeded", "https://example.com")
	_, starts := d.(jobs.Finder)
	require.True(t, starts)
	require.Equal(t, "BakeSucceeded", d.Waiter().Name)
}
