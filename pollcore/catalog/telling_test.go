package catalog_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

var (
	// toldByFlag is what a member of a job's answer is called that is true or false as the job
	// ends, and toldByNumber is what one is called that counts up to its end.
	toldByFlag   = regexp.MustCompile(`(?i)(complete|completed|finished|ended|done|inprogress|isactive|running|processing)$`)
	toldByNumber = regexp.MustCompile(`(?i)(percentcomplete|percentprogress|progresspercent)$`)
	// otherWork are members about a part of the job or about other work.
	otherWork = regexp.MustCompile(`AdministrativeActions|ReplicationStats|ReplicationTaskStats|insights|generatedPolicyResult|AbortableOperation|StorageOperation|UpgradeProcessing|^Jobs\[`)
)

// Each member that says by its name what the status says has a row in telling.json, with
// values of the model's type; and each row is of such a member. A build that had SUCCEEDED
// was answered with buildComplete false.
func TestMembersThatTellTheEnd(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	found := map[string]bool{}
	for _, l := range list {
		for _, listed := range l.Entries {
			e, err := catalog.Lookup(l.Key, listed.Name)
			require.NoError(t, err)
			eachMember(e.Operation.Output, "", 0, func(path string, s *catalog.Shape) {
				flag := s.Type == catalog.Boolean && toldByFlag.MatchString(path)
				number := s.Type == catalog.Integer && toldByNumber.MatchString(path)
				i := slices.IndexFunc(e.Telling(), func(row catalog.Telling) bool { return row.Member == path })
				if i < 0 {
					require.False(t, listed.Kind == catalog.AWSJob && (flag || number) && !otherWork.MatchString(path), "%s: %s needs a row in telling.json", e.FullName(), path)
					return
				}
				row := e.Telling()[i]
				found[row.Service+":"+row.Operation+" "+path] = true
				require.Equal(t, row.Since == "", row.Before == row.After)
				require.Contains(t, []catalog.Presence{catalog.AfterEnd, catalog.AfterSuccess, ""}, row.Since)
				require.NotEmpty(t, row.Source)
				for _, value := range []any{row.Before, row.After} {
					switch s.Type {
					case catalog.Boolean:
						require.IsType(t, true, value, path)
					case catalog.Integer:
						require.IsType(t, 1.0, value, path)
					default:
						require.IsType(t, "", value, path)
						require.True(t, len(s.Enum) == 0 || slices.Contains(s.Enum, value.(string)), "%s is never %v", path, value)
					}
				}
			})
		}
	}
	text, err := os.ReadFile("telling.json")
	require.NoError(t, err)
	var rows []catalog.Telling
	require.NoError(t, json.Unmarshal(text, &rows))
	require.Len(t, found, len(rows), "a row is of no member of a job's answer, or stands twice")
}

// eachMember calls f with each scalar in a shape.
func eachMember(s *catalog.Shape, path string, depth int, f func(path string, s *catalog.Shape)) {
	const deepest = 5
	switch {
	case s == nil || depth > deepest:
	case s.Type == catalog.List:
		eachMember(s.Element.Shape, path+"[0]", depth, f)
	case s.Type == catalog.Structure:
		for i := range s.Members {
			eachMember(s.Members[i].Shape, strings.TrimPrefix(path+"."+s.Members[i].Name, "."), depth+1, f)
		}
	default:
		f(path, s)
	}
}
