package tests_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// firstWord is the first word of a function's name.
var firstWord = regexp.MustCompile(`^(?:[A-Z]?[a-z0-9]+|[A-Z]+)`)

// irregular are participles that do not end in "ed".
var irregular = strings.Fields("broke broken taken given held kept found made sent seen known written done gone lost left said told shown drawn " +
	"thrown chosen spelt built bought brought caught meant paid sold spent stood won ran begun come")

// verbs end in "ed" and are none, and unsorted words are those of Go's own
// library, such as slices.Sorted.
var (
	verbs     = strings.Fields("embed need feed speed seed exceed proceed succeed bed red shed indeed hundred")
	libraryOf = strings.Fields("sorted")
)

// isParticiple tells whether a function is named by what was done and not by what
// it does.
func isParticiple(name string) bool {
	word := strings.ToLower(firstWord.FindString(name))
	return strings.HasSuffix(word, "ed") && !slices.Contains(verbs, word) && !slices.Contains(libraryOf, word) || slices.Contains(irregular, word)
}

// notYet are the functions that are still named by participles: the list only
// shrinks.
var notYet = []string{
	"cdkapp/fragment.go: Succeeded",
	"cdkapp/fragment.go: Failed",
	"cdkapp/fragment.go: TimedOut",
	"internal/runtimeapi/error.go: postedError",
	"internal/runtimeapi/error.go: exited",
	"internal/runtimeapi/error.go: timedOut",
	"internal/runtimeapi/function.go: ended",
	"internal/runtimeapi/function.go: closedError",
	"internal/runtimeapi/function.go: canceled",
	"internal/runtimeapi/sandbox.go: reserved",
	"lambdas/handler/errors.go: named",
	"lambdas/handler/event.go: ended",
	"lambdas/handler/event.go: elapsed",
	"lambdas/handler/limit.go: limited",
	"lambdas/handler/metrics.go: counted",
	"lambdas/handler/renew.go: renewed",
	"lambdas/handler/runjob.go: started",
	"lambdas/handler/runjob.go: storedResult",
	"lambdas/handler/stores.go: moved",
	"pollcore/catalog/catalog.go: placed",
	"pollcore/catalog/described.go: Described",
	"pollcore/catalog/resolve.go: named",
	"pollcore/reason.go: deniedPermission",
	"statemachines/compile/catch.go: unmatchedReason",
}

// A function is named by a verb of its domain.
func TestFunctionsAreNamedByVerbs(t *testing.T) {
	t.Parallel()
	all := sources(t)
	functions := 0
	var named []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		file, err := parser.ParseFile(token.NewFileSet(), name, strings.Join(all[name], "\n"), parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				if functions++; isParticiple(f.Name.Name) {
					named = append(named, name+": "+f.Name.Name)
				}
			}
		}
	}
	require.Greater(t, functions, 3_000)
	require.Subset(t, notYet, named, "name them by what they do: CONTRIBUTING.md")
}

func TestParticiples(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"placed", "Selected", "brokeAt", "caught", "MadeFrom", "respelled"} {
		require.True(t, isParticiple(name), name)
	}
	for _, name := range []string{"place", "embed", "Feed", "applyResultPath", "sortedKeys", "isPlaced", "EDNS"} {
		require.False(t, isParticiple(name), name)
	}
}
