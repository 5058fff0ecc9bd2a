package tests_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/jobpoller/jobpoller"

// Patterns name packages. "./x" is the package x of this module, "std" the
// standard library, anything else an import path; "/..." at the end adds the
// packages below.
var (
	awsSDK   = []string{"github.com/aws/aws-sdk-go-v2/...", "github.com/aws/smithy-go/..."}
	testOnly = []string{"testing/...", "net/http/httptest", "github.com/stretchr/testify/...", "pgregory.net/rapid/...", "github.com/rogpeppe/go-internal/testscript/...", "github.com/google/jsonschema-go/...", "github.com/santhosh-tekuri/jsonschema/v6/..."}
	// testKits are the packages for tests that are not themselves tests:
	// conformance suites and what users import.
	testKits = []string{
		"./pollcore/startrecord/startrecordtest/...", "./lambdas/jobs/jobstest/...", "./lambdas/handler/handlertest/...", "./statemachines/simtest/...", "./statemachines/sfntest/...",
		"./internal/cli/clitest", "./internal/schema/...", "./internal/terminal/terminaltest", "./internal/dynalite", "./internal/elasticmq", "./internal/maven", "./internal/npm", "./internal/pypi", "./internal/jmespath/jmespathtest", "./tests/...",
	}
)

// smithyErrors is the one package of smithy-go that says what errors are: it has no
// client, and pollcore/awserror/goerror needs it.
var smithyErrors = []string{"github.com/aws/smithy-go", "github.com/aws/smithy-go/document"}

// rule says what packages may depend on, directly or through others. It has
// either a list of all that they may reach or one of what they must not.
type rule struct {
	reason       string
	packages     []string
	except       []string
	mayReach     []string
	mustNotReach []string
}

// pollcores are the packages of pollcore but diag and jsontype: these are leaves,
// whose types the public packages and the internal ones share.
var pollcores = []string{"./pollcore", "./pollcore/awserror/...", "./pollcore/catalog/...", "./pollcore/plan", "./pollcore/retry/...", "./pollcore/startrecord/..."}

// rules is the direction of imports of docs/design.md.
var rules = []rule{
	{
		reason:       "internal packages are the ground floor",
		packages:     []string{"./internal/..."},
		except:       []string{"./internal/cli/...", "./internal/catalogimport/...", "./internal/answers", "./internal/deployed", "./internal/localloop", "./internal/pastjobs", "./internal/shipped", "./internal/servicetask", "./internal/stepfunctions"}, // the last seven know definitions
		mustNotReach: append([]string{"./statemachines/...", "./lambdas/...", "./cdkapp/...", "./internal/cli/...", "./cmd/..."}, pollcores...),
	},
	{
		reason:   "every language tells its problems by them",
		packages: []string{"./pollcore/diag"},
		mayReach: []string{"std", "./internal/nearest"},
	},
	{
		reason:   "every language describes types by them",
		packages: []string{"./pollcore/jsontype"},
		mayReach: []string{"std"},
	},
	{
		reason:       "the command stands at the top: it wires the others",
		packages:     []string{"./..."},
		except:       []string{"./cmd/...", "./internal/cli/...", "./tests/..."},
		mustNotReach: []string{"./internal/cli/...", "./cmd/..."},
	},
	{
		reason:   "the waiter engine needs no SDK, no file and no network",
		packages: []string{"./pollcore"},
		mayReach: []string{"std", "./pollcore/awserror", "./internal/jmespath", "./internal/jsontree", "./pollcore/diag", "./pollcore/jsontype", "./internal/nearest", "./internal/smithy"},
	},
	{
		reason:   "a plan is made of numbers: it calls nothing",
		packages: []string{"./pollcore/plan"},
		mayReach: []string{"std", "./pollcore", "./pollcore/awserror", "./internal/jmespath", "./internal/jsontree", "./pollcore/diag", "./pollcore/jsontype", "./internal/nearest", "./internal/smithy", "./internal/timespan"},
	},
	{
		reason:   "the retry strategy knows what errors mean, and no client",
		packages: []string{"./pollcore/retry"},
		mayReach: append([]string{"std", "./pollcore/awserror", "./pollcore/awserror/goerror"}, smithyErrors...),
	},
	{
		reason:       "polling does not know what it is used for",
		packages:     []string{"./pollcore/..."},
		mustNotReach: []string{"./statemachines/...", "./lambdas/...", "./cdkapp/...", "./internal/cli/...", "./cmd/..."},
	},
	{
		reason:       "who keeps records in S3 links no other client",
		packages:     []string{"./pollcore/startrecord/s3store", "./lambdas/handler"},
		mustNotReach: []string{"github.com/aws/aws-sdk-go-v2/service/dynamodb/...", "./pollcore/startrecord/dynamostore/..."},
	},
	{
		reason:       "who keeps records in DynamoDB links no other client",
		packages:     []string{"./pollcore/startrecord/dynamostore/..."},
		mustNotReach: []string{"github.com/aws/aws-sdk-go-v2/service/s3/...", "./pollcore/startrecord/s3store"},
	},
	{
		reason:       "the schemas of the SDK's client of DynamoDB take a millisecond of each start of a function",
		packages:     []string{"./lambdas/...", "./pollcore/startrecord/dynamostore/direct", "./internal/awscall"},
		mustNotReach: []string{"github.com/aws/aws-sdk-go-v2/service/dynamodb/..."},
	},
	{
		reason:       "a function that asks for no catalogue does not carry its data",
		packages:     []string{"./lambdas/handler/...", "./lambdas/jobs", "./lambdas/jobs/httpjob", "./lambdas/jobs/lambdajob", "./tests/bench/s3only"},
		except:       []string{"./lambdas/handler/handlertest"},
		mustNotReach: []string{"./pollcore/catalog", "./lambdas/jobs/awsjob"},
	},
	{
		reason:       "only the command, apps of the CDK and the kits for tests carry the models of all services",
		packages:     []string{"./..."},
		except:       []string{"./internal/cli/...", "./cmd/...", "./cdkapp/...", "./internal/answers", "./internal/shipped", "./internal/servicetask", "./statemachines/sim/mock", "./statemachines/sim/simulate", "./statemachines/trial", "./statemachines/fix", "./statemachines/server/...", "./statemachines/simtest/...", "./statemachines/sfntest", "./lambdas/handler/handlertest", "./tests/..."},
		mustNotReach: []string{"./pollcore/catalog/models"},
	},
	{
		reason:   "what an error means is small data, which definitions and apps of the CDK read without an SDK",
		packages: []string{"./pollcore/awserror"},
		mayReach: []string{"std"},
	},
	{
		reason:   "who reads the SDK's errors needs no client and no catalogue",
		packages: []string{"./pollcore/awserror/goerror"},
		mayReach: append([]string{"std", "./pollcore/awserror"}, smithyErrors...),
	},
	{
		reason:   "the stores share their messages and no client",
		packages: []string{"./pollcore/startrecord/internal/remedy"},
		mayReach: []string{"std", "./pollcore/startrecord", "./pollcore/awserror", "./pollcore/awserror/goerror", "./internal/jsontree", "./pollcore/diag", "./pollcore/jsontype", "./internal/nearest", "github.com/aws/smithy-go/..."},
	},
	{
		reason:       "a program that uses the catalogue does not carry its maker",
		packages:     []string{"./..."},
		except:       []string{"./internal/catalogimport/makecatalog"},
		mustNotReach: []string{"./internal/catalogimport"},
	},
	{
		reason:   "the catalogue is data and is read without an SDK",
		packages: []string{"./pollcore/catalog", "./internal/catalogimport", "./pollcore/catalog/lint", "./pollcore/catalog/models"},
		mayReach: []string{"std", "./pollcore", "./pollcore/access", "./pollcore/awserror", "./pollcore/catalog", "./internal/jmespath", "./internal/jsontree", "./internal/javasdk", "./internal/smithy", "./pollcore/diag", "./pollcore/jsontype", "./internal/nearest"},
	},
	{
		reason:       "a definition is read without running it",
		packages:     []string{"./statemachines/asl", "./statemachines/source", "./statemachines/edit", "./statemachines/lint/...", "./statemachines/graph"},
		mustNotReach: []string{"./statemachines", "./statemachines/compile", "./statemachines/sim/...", "./statemachines/simtest/..."},
	},
	{
		reason:       "the runner does not depend on its test kit, nor on the compiler",
		packages:     []string{"./statemachines/sim"},
		mustNotReach: []string{"./statemachines", "./statemachines/compile", "./statemachines/simtest/...", "./statemachines/sim/mock", "./statemachines/lint", "./statemachines/graph", "./statemachines/report"},
	},
	{
		reason:       "state machines name Lambda functions and do not contain them",
		packages:     []string{"./statemachines/..."},
		mustNotReach: []string{"./lambdas/...", "./cdkapp/...", "./internal/cli/...", "./cmd/..."},
	},
	{
		reason:       "a Lambda function carries no state machine, no command and no CDK",
		packages:     []string{"./lambdas/..."},
		except:       []string{"./lambdas/handler/handlertest"},
		mustNotReach: []string{"./statemachines/...", "./cdkapp/...", "./internal/cli/...", "./cmd/..."},
	},
	{
		reason:       "the CDK needs Node, which stays out of the command and the functions",
		packages:     []string{"./..."},
		except:       []string{"./cdkapp/...", "./tests/cdk/signals"},
		mustNotReach: []string{"./cdkapp/...", "github.com/aws/aws-cdk-go/...", "github.com/aws/jsii-runtime-go/...", "github.com/aws/constructs-go/..."},
	},
	{
		reason:       "an app of the CDK is made of definitions and the catalogue, and calls nothing",
		packages:     []string{"./cdkapp/..."},
		mustNotReach: append([]string{"./lambdas/...", "./statemachines/sim/...", "./internal/cli/...", "./cmd/..."}, awsSDK...),
	},
	{
		reason:       "constructs are for apps",
		packages:     []string{"./..."},
		except:       []string{"./cdkapp/app", "./tests/cdk/signals"},
		mustNotReach: []string{"./cdkapp"},
	},
	{
		reason:       "the Go toolchain is for those who build the functions",
		packages:     []string{"./..."},
		except:       []string{"./internal/lambdabuild/...", "./internal/release/...", "./cdkapp/...", "./tests/cdk/signals", "./internal/answers", "./internal/shipped", "./internal/cli/...", "./cmd/..."},
		mustNotReach: []string{"./internal/lambdabuild"},
	},
	{
		reason: "these work on plain data and are used without AWS",
		packages: []string{
			"./pollcore/diag", "./pollcore/jsontype", "./internal/nearest", "./internal/jsontree", "./internal/jmespath", "./internal/jmespath/tojsonata", "./internal/jsonpath", "./internal/jsonata",
			"./internal/intrinsic", "./internal/javasdk", "./internal/smithy", "./pollcore", "./pollcore/startrecord", "./pollcore/startrecord/memstore",
			"./statemachines/asl", "./statemachines/source", "./statemachines/edit", "./statemachines/sim",
		},
		mustNotReach: awsSDK,
	},
	{
		reason:       "state machines are compiled, checked and tested without AWS",
		packages:     []string{"./statemachines/..."},
		except:       []string{"./statemachines/sfntest"}, // gives tests the SDK's client
		mustNotReach: awsSDK,
	},
	{
		reason:       "the server is an HTTP handler, which programs use without the command and what deploys",
		packages:     []string{"./statemachines/server/..."},
		mustNotReach: []string{"./lambdas/...", "./cdkapp/...", "./internal/cli/...", "./cmd/...", "./statemachines/fix", "./statemachines/compile"},
	},
	{
		reason:       "test code does not reach users' binaries",
		packages:     []string{"./..."},
		except:       testKits,
		mustNotReach: append(slices.Clone(testOnly), testKits...),
	},
	{
		reason:       "the embedded S3 is for the command and for tests",
		packages:     []string{"./..."},
		except:       []string{"./internal/cli/...", "./internal/shipped", "./cmd/...", "./internal/embeddeds3", "./tests/soak/..."},
		mustNotReach: []string{"go.etcd.io/bbolt/...", "./internal/embeddeds3"},
	},
	{
		reason:       "what nobody maintains is not linked",
		packages:     []string{"./..."},
		mustNotReach: []string{"gopkg.in/mgo.v2/...", "github.com/ryszard/goskiplist/...", "github.com/johannesboyne/gofakes3/..."},
	},
}

// node is a package as go list describes it, without its tests.
type node struct {
	ImportPath string   `json:"ImportPath"`
	Imports    []string `json:"Imports"`
	Standard   bool     `json:"Standard"`
	Doc        string   `json:"Doc"`
	GoFiles    []string `json:"GoFiles"`
}

// graph is a set of packages by their import paths.
type graph map[string]node

// matches tells whether the pattern names the package.
func (n node) matches(pattern string) bool {
	if pattern == "std" {
		return n.Standard
	}
	if rest, ok := strings.CutPrefix(pattern, "."); ok {
		pattern = module + rest
	}
	if root, ok := strings.CutSuffix(pattern, "/..."); ok {
		return n.ImportPath == root || strings.HasPrefix(n.ImportPath, root+"/")
	}
	return n.ImportPath == pattern
}

func (n node) matchesAny(patterns []string) bool { return slices.ContainsFunc(patterns, n.matches) }

func (r rule) forbids(n node) bool {
	if r.mayReach != nil {
		return !n.matchesAny(r.mayReach)
	}
	return n.matchesAny(r.mustNotReach)
}

// violations returns, for each package that breaks the rule, a shortest chain
// of imports that leads to what it must not reach.
func (g graph) violations(r rule) []string {
	var found []string
	for _, path := range slices.Sorted(maps.Keys(g)) {
		if !g[path].matchesAny(r.packages) || g[path].matchesAny(r.except) {
			continue
		}
		if chain := g.chain(path, r.forbids); chain != nil {
			found = append(found, fmt.Sprintf("%s: %s", r.reason, strings.Join(chain, " -> ")))
		}
	}
	return found
}

// chain returns a shortest chain of imports from the package to another that
// is as described, or nil.
func (g graph) chain(from string, is func(node) bool) []string {
	importer := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		path := queue[0]
		if path != from && is(g[path]) {
			var chain []string
			for ; path != ""; path = importer[path] {
				chain = append(chain, path)
			}
			slices.Reverse(chain)
			return chain
		}
		for _, imported := range g[path].Imports {
			if _, seen := importer[imported]; !seen && imported != "C" { // cgo, not a package
				importer[imported] = path
				queue = append(queue, imported)
			}
		}
	}
	return nil
}

// load returns the packages of this module and all that they depend on.
func load(t *testing.T) graph {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Imports,Standard,Doc,GoFiles", "./...")
	command.Dir = ".."
	output, err := command.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatalf("%v: %s", err, failed.Stderr)
	}
	require.NoError(t, err)
	g := graph{}
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var n node
		err := decoder.Decode(&n)
		if errors.Is(err, io.EOF) {
			return g
		}
		require.NoError(t, err)
		g[n.ImportPath] = n
	}
}

// Whoever reads Go values by their layout in memory depends on what Go does not
// promise.
func TestNoPackageImportsUnsafe(t *testing.T) {
	t.Parallel()
	g := load(t)
	require.Contains(t, g, module+"/internal/jmespath")
	for path, n := range g {
		if n.matches("./...") {
			require.NotContains(t, n.Imports, "unsafe", path)
		}
	}
}

func TestImports(t *testing.T) {
	t.Parallel()
	g := load(t)
	require.Contains(t, g, module+"/pollcore")
	for _, r := range rules {
		require.Empty(t, g.violations(r))
	}
}

func TestEveryPackageHasADocComment(t *testing.T) {
	t.Parallel()
	for path, n := range load(t) {
		if n.matches("./...") && len(n.GoFiles) > 0 {
			require.NotEmpty(t, n.Doc, "%s: say in a package comment what it is for", path)
		}
	}
}

// packageOf returns a package that the pattern names.
func packageOf(pattern string) node {
	if pattern == "std" {
		return node{ImportPath: "fmt", Standard: true}
	}
	if rest, ok := strings.CutPrefix(pattern, "."); ok {
		pattern = module + rest
	}
	if root, ok := strings.CutSuffix(pattern, "/..."); ok {
		return node{ImportPath: root + "/below"}
	}
	return node{ImportPath: pattern}
}

// Each rule finds each of its violations, behind a package in between.
func TestRulesCanFail(t *testing.T) {
	t.Parallel()
	stranger := "example.com/stranger"
	for _, r := range rules {
		forbidden := r.mustNotReach
		if r.mayReach != nil {
			forbidden = []string{stranger, "./internal/other"}
		}
		require.NotEmpty(t, forbidden, r.reason)
		for _, from := range r.packages {
			for _, to := range forbidden {
				importer, between, imported := packageOf(from), node{ImportPath: "example.com/between"}, packageOf(to)
				if importer.ImportPath == imported.ImportPath {
					continue
				}
				importer.Imports = []string{between.ImportPath}
				between.Imports = []string{imported.ImportPath}
				g := graph{importer.ImportPath: importer, between.ImportPath: between, imported.ImportPath: imported}
				chain := []string{importer.ImportPath, between.ImportPath, imported.ImportPath}
				if r.mayReach != nil {
					chain = chain[:2] // what is between is not on the list either
				}
				require.Equal(t, []string{r.reason + ": " + strings.Join(chain, " -> ")}, g.violations(r))
			}
		}
	}
}

func TestViolations(t *testing.T) {
	t.Parallel()
	g := graph{}
	for path, imports := range map[string]string{
		module + "/core":       "fmt " + module + "/internal/x",
		module + "/core/store": "example.com/sdk/s3 " + module + "/core",
		module + "/internal/x": "strings",
		module + "/app":        "example.com/long " + module + "/core/store",
		"example.com/long":     "example.com/longer",
		"example.com/longer":   "example.com/sdk",
		"example.com/sdk":      "",
		"example.com/sdk/s3":   "",
		"fmt":                  "strings",
		"strings":              "",
	} {
		g[path] = node{ImportPath: path, Imports: strings.Fields(imports), Standard: !strings.Contains(path, ".")}
	}
	tests := []struct {
		name string
		rule rule
		want []string
	}{
		{"keeps an allow list", rule{packages: []string{"./core"}, mayReach: []string{"std", "./internal/..."}}, nil},
		{
			"breaks an allow list",
			rule{reason: "why", packages: []string{"./core"}, mayReach: []string{"std"}},
			[]string{"why: " + module + "/core -> " + module + "/internal/x"},
		},
		{"exact pattern", rule{packages: []string{"./core"}, mustNotReach: []string{"example.com/sdk/..."}}, nil},
		{
			"pattern with those below, shortest chain",
			rule{reason: "why", packages: []string{"./..."}, mustNotReach: []string{"example.com/sdk/..."}},
			[]string{
				"why: " + module + "/app -> " + module + "/core/store -> example.com/sdk/s3",
				"why: " + module + "/core/store -> example.com/sdk/s3",
			},
		},
		{
			"exception",
			rule{reason: "why", packages: []string{"./..."}, except: []string{"./app"}, mustNotReach: []string{"example.com/sdk/..."}},
			[]string{"why: " + module + "/core/store -> example.com/sdk/s3"},
		},
		{"a package is not its own import", rule{packages: []string{"./internal/..."}, mustNotReach: []string{"./internal/..."}}, nil},
		{"no pattern by half a name", rule{packages: []string{"./..."}, mustNotReach: []string{"example.com/sd/..."}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, g.violations(tt.rule))
		})
	}
}
