package catalogimport_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/catalogimport"
)

// Each check of the table of lists, with its place and what was meant.
func TestLists(t *testing.T) {
	t.Parallel()
	const lists, at = "lists.json", "/jobs/baker:StartLoaf"
	const times, describe = `"start": "bakedAt",
      "end": "soldAt",`, `"describe": {"name": "item.reason", "ovenId": "input.ovenId", "account": "'me'"},`
	for _, tt := range []struct {
		name    string
		changes []change
		want    string
	}{
		{"no list", []change{{lists, `["mill-v2:GrindSack"]`, `[]`}}, `/1/start: lists.json does not say how past jobs of mill-v2:GrindSack are listed; add the list, or the job to withoutList`},
		{"both", []change{{lists, `["mill-v2:GrindSack"]`, `["mill-v2:GrindSack", "baker:StartLoaf"]`}}, `/withoutList/0: baker:StartLoaf stands twice, or has a list; keep one`},
		{"unknown job", []change{{lists, `"mill-v2:GrindSack"`, `"mill-v2:GrindSac"`}}, `jobs.json has no job "mill-v2:GrindSac" (did you mean "mill-v2:GrindSack"?)`},
		{"operation", []change{{lists, `"GetLoaf"`, `"GetLoav"`}}, at + `/operation: baker has no operation "GetLoav" (did you mean "GetLoaf"?)`},
		{"argument", []change{{lists, `"account": "'me'"`, `"acount": "'me'"`}}, at + `/arguments/acount: the input of GetLoaf has no member "acount"`},
		{"argument of the caller", []change{{lists, `"'me'"`, `"input.account"`}}, at + `/arguments/account: column 1: `},
		{"type of an argument", []change{{lists, `"'me'"`, "\"`1`\""}}, at + `/arguments/account: account is a string, and the expression gives a number`},
		{"needs what is required", []change{{lists, `["since"]`, `["ovenId"]`}}, at + `/needs: the input of GetLoaf has no optional member "ovenId"`},
		{"items", []change{{lists, `"loaf.slices"`, `"loaf.slicez"`}}, at + `/items: column 6: `},
		{"items that are no path", []change{{lists, `"loaf.slices"`, `"loaf.slices[]"`}}, at + `/items: expected a path of members, found "loaf.slices[]"`},
		{"items that are no list", []change{{lists, `"loaf.slices"`, `"loaf.filling"`}}, at + `/items: expected the path of a list in the answer of GetLoaf`},
		{"where", []change{{lists, `["s"]`, `["xs"]`}}, at + `/where: size never is "xs"`},
		{"path of where", []change{{lists, `"size"`, `"sizes"`}}, at + `/where: column 1: `},
		{"start", []change{{lists, `"bakedAt"`, `"baked"`}}, at + `/start: column 1: `},
		{"end that is no time", []change{{lists, `"soldAt"`, `"reason"`}}, at + `/end: expected a timestamp, and reason is a string; if it is documented to be a time, add timesSource`},
		{"end that is documented", []change{{lists, `"end": "soldAt"`, `"end": "sour", "timesSource": "made up"`}}, at + `/end: expected a timestamp, a string or a long, and sour is a boolean`},
		{"start alone", []change{{lists, `"end": "soldAt",`, ``}}, at + `: a list needs start and end, or else describe`},
		{"times and describe", []change{{lists, `"start"`, `"describe": {}, "start"`}}, at + `: a list needs start and end, or else describe`},
		{"describe argument", []change{{lists, times, `"describe": {"name": "item.reason", "account": "'me'"},`}}, at + `/describe: GetLoaf needs the argument ovenId`},
		{"describe member of the item", []change{{lists, times, `"describe": {"name": "item.id", "ovenId": "input.ovenId", "account": "'me'"},`}}, at + `/describe/name: column 6: `},
		{"describe without times", []change{{lists, times, describe}}, at + `/describe: the answer of GetLoaf has no startTime and endTime in jobs.json`},
		{"token", []change{{lists, `"token": "name"`, `"token": "tokn"`}}, at + `/token: the input of GetLoaf has no string "tokn"`},
		{"token that is no string", []change{{lists, `"token": "name"`, `"token": "tags"`}}, at + `/token: the input of GetLoaf has no string "tags"`},
		{"next", []change{{lists, `"next": "etag",`, ``}}, at + `: the answer of GetLoaf has no string "name"`},
		{"next without token", []change{{lists, `"token": "name",`, ``}}, at + `: next is for another name than token has; remove it`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tables := folder(t, "tables")
			for _, c := range tt.changes {
				edit(t, tables, c.file, c.old, c.with)
			}
			_, err := catalogimport.Import(catalogimport.Sources{Botocore: folder(t, "botocore"), Tables: tables})
			require.ErrorContains(t, err, tt.want)
			require.ErrorIs(t, err, catalogimport.ErrTable)
		})
	}
}

// Which member of the table comes first does not count.
func TestListsInAnyOrder(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ without, operation, want string }{
		"none":                   {`{"jobs": ["mill-v2:GrindSack"], "reason": "made up"}`, "GetLoaf", ""},
		"a list":                 {`{"jobs": ["baker:StartLoaf", "mill-v2:GrindSack"], "reason": "made up"}`, "GetLoaf", `/withoutList/0: baker:StartLoaf stands twice, or has a list; keep one`},
		"two reasons":            {`{"jobs": ["mill-v2:GrindSack"], "reason": "a"}, {"jobs": ["mill-v2:GrindSack"], "reason": "b"}`, "GetLoaf", `/withoutList/1: mill-v2:GrindSack stands twice, or has a list; keep one`},
		"a list and two reasons": {`{"jobs": ["mill-v2:GrindSack"], "reason": "a"}, {"jobs": ["baker:StartLoaf", "mill-v2:GrindSack"], "reason": "b"}`, "GetLoaf", "2 problems"},
		"a list with a problem":  {`{"jobs": ["baker:StartLoaf", "mill-v2:GrindSack"], "reason": "a"}`, "GetLoav", `/jobs/baker:StartLoaf/operation: baker has no operation "GetLoav"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			original := folder(t, "tables")
			var jobs struct {
				Jobs json.RawMessage `json:"jobs"`
			}
			require.NoError(t, json.Unmarshal(original["lists.json"].Data, &jobs))
			list, without := `"jobs": `+strings.Replace(string(jobs.Jobs), "GetLoaf", tt.operation, 1), `"withoutList": [`+tt.without+`]`
			for _, text := range []string{list + ", " + without, without + ", " + list} {
				tables := folder(t, "tables")
				tables["lists.json"] = &fstest.MapFile{Data: []byte("{" + text + "}")}
				_, err := catalogimport.Import(catalogimport.Sources{Botocore: folder(t, "botocore"), Tables: tables})
				if tt.want == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, tt.want)
				}
			}
		})
	}
}

// Where the model has a number or a string, the documentation can tell that it is a time.
func TestTimesByDocumentation(t *testing.T) {
	t.Parallel()
	tables := folder(t, "tables")
	edit(t, tables, "lists.json", `"start": "bakedAt"`, `"start": "weight", "timesSource": "made up"`)
	edit(t, tables, "lists.json", `"end": "soldAt"`, `"end": "reason"`)
	_, err := catalogimport.Import(catalogimport.Sources{Botocore: folder(t, "botocore"), Tables: tables})
	require.NoError(t, err)
}

// The times of a job have one form: a report subtracts them.
func TestTimesOfOneForm(t *testing.T) {
	t.Parallel()
	tables := folder(t, "tables")
	edit(t, tables, "jobs.json", `"note": "Bread`, `"startTime": "loaf.weight", "endTime": "loaf.soldAt", "timesSource": "made up", "note": "Bread`)
	_, err := catalogimport.Import(catalogimport.Sources{Botocore: folder(t, "botocore"), Tables: tables})
	require.ErrorContains(t, err, "endTime: expected a long as startTime is, and loaf.soldAt is a timestamp")
}

// A list whose operation pages must say so, or the pages after the first are lost.
func TestListPages(t *testing.T) {
	t.Parallel()
	data, tables := folder(t, "botocore"), folder(t, "tables")
	edit(t, data, "baker/2024-05-01/service-2.json", `"since": {`, `"nextToken": {`)
	edit(t, tables, "lists.json", `"needs": ["since"],`, ``)
	edit(t, tables, "lists.json", `"token": "name",
      "next": "etag",`, ``)
	_, err := catalogimport.Import(catalogimport.Sources{Botocore: data, Tables: tables})
	require.ErrorContains(t, err, `/jobs/baker:StartLoaf: GetLoaf lists page by page; add the token nextToken`)
}

// The jobs of one describe call share what does not differ by the item.
func TestListOfSharedMembers(t *testing.T) {
	t.Parallel()
	data, tables := folder(t, "botocore"), folder(t, "tables")
	edit(t, data, "mill-v2/2023-01-01/service-2.json", `"members": {"Ids": {"shape": "Ids"}}}`, `"members": {"Ids": {"shape": "Ids"}, "Oven": {"shape": "Id"}}}`)
	edit(t, data, "mill-v2/2023-01-01/service-2.json", `"Detail": {"shape": "Id"}}}`, `"Detail": {"shape": "Id"}, "At": {"shape": "Time"}}}, "Time": {"type": "timestamp"}`)
	edit(t, tables, "jobs.json", `"arguments": {"Ids": "[output.Id]"},`, `"arguments": {"Ids": "[output.Id]", "Oven": "'o'"}, "startTime": "Sacks[0].At", "endTime": "Sacks[0].At",`)
	edit(t, tables, "signals.json", `"Ids[0]",`, `"Ids[0]", "shared": ["Oven"],`)
	edit(t, tables, "lists.json", `["mill-v2:GrindSack"]`, `[]`)
	edit(t, tables, "lists.json", `"made up"
    }`, `"made up"
    },
    "mill-v2:GrindSack": {"operation": "DescribeSack", "items": "Sacks", "describe": {"Ids": "[item.Detail]", "Oven": "item.State"}}`)
	_, err := catalogimport.Import(catalogimport.Sources{Botocore: data, Tables: tables})
	require.ErrorContains(t, err, `/describe/Oven: jobs of one call of DescribeSack share Oven: it must not read the item`)
	edit(t, tables, "lists.json", `item.State`, `input.Oven`)
	_, err = catalogimport.Import(catalogimport.Sources{Botocore: data, Tables: tables})
	require.NoError(t, err)
}

// A list whose times the describe call has.
func TestListOfIDs(t *testing.T) {
	t.Parallel()
	tables := folder(t, "tables")
	edit(t, tables, "jobs.json", `"note": "Bread`, `"startTime": "loaf.bakedAt", "endTime": "loaf.soldAt", "note": "Bread`)
	edit(t, tables, "lists.json", `"start": "bakedAt",
      "end": "soldAt",`, `"describe": {"name": "item.reason", "ovenId": "input.ovenId", "account": "'me'"},`)
	c, err := catalogimport.Import(catalogimport.Sources{Botocore: folder(t, "botocore"), Tables: tables})
	require.NoError(t, err)
	require.Contains(t, string(c.Files()["baker.json"]), `"list":{"operation":"GetLoaf","arguments":{"account":"'me'"},"needs":["since"],"items":"loaf.slices","where":{"size":["s"]},"describe":`)
}
