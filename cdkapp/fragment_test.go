//go:build e2e

package cdkapp_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	sfn "github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// export waits for an export of DynamoDB, after it has started it.
func export(stack awscdk.Stack, id string, strategy compile.Strategy) cdkapp.JobPollerFragment {
	return cdkapp.NewJobPollerFragment(stack, jsii.String(id), &cdkapp.JobPollerFragmentProps{
		Job:      cdkapp.JobFromCatalog(jsii.String("dynamodb:ExportTableToPointInTime")),
		Strategy: strategy, MaxWait: awscdk.Duration_Hours(jsii.Number(2)),
	})
}

// host makes the state machine around a chain.
func host(stack awscdk.Stack, chain sfn.IChainable, language sfn.QueryLanguage) {
	sfn.NewStateMachine(stack, jsii.String("Host"), &sfn.StateMachineProps{DefinitionBody: sfn.DefinitionBody_FromChainable(chain), QueryLanguage: language})
}

// states are those of a definition.
func states(t *testing.T, definition []byte) map[string]any {
	t.Helper()
	var machine struct {
		States map[string]any `json:"States"`
	}
	require.NoError(t, json.Unmarshal(definition, &machine))
	return machine.States
}

// withoutLambda are the strategies that call the service from the state machine.
var withoutLambda = []compile.Strategy{compile.Variables, compile.RetryTask, compile.Loop}

// The CDK renders a fragment as it was compiled.
func TestE2EFragmentIsAsCompiled(t *testing.T) {
	t.Parallel()
	for _, job := range [][2]string{{"dynamodb", "ExportTableToPointInTime"}, {"athena", "StartQueryExecution"}, {"s3", "BucketExists"}, {"rds", "StartExportTask"}, {"ecs", "ServicesStable"}} {
		for _, strategy := range withoutLambda {
			e, err := catalog.Lookup(job[0], job[1])
			require.NoError(t, err)
			exits := map[pollcore.Status]string{pollcore.Succeeded: "MineOnSucceeded", pollcore.Failed: "MineOnFailed", pollcore.TimedOut: "MineOnTimedOut"}
			compiled, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{Strategy: strategy, MaxWait: time.Hour, Prefix: "Mine", Exits: exits})
			if err != nil {
				require.ErrorIs(t, err, compile.ErrNotCompiled)
				continue
			}
			t.Run(e.Service.Key+" "+e.Name+" "+string(strategy), func(t *testing.T) {
				t.Parallel()
				all := synth(t, func(stack awscdk.Stack) {
					host(stack, cdkapp.NewJobPollerFragment(stack, jsii.String("Mine"), &cdkapp.JobPollerFragmentProps{
						Job: fromCatalog(job[0] + ":" + job[1]), Strategy: strategy, MaxWait: seconds(3600), Resources: passed(e),
					}).OrFail(), "")
				})
				want := states(t, asl.Print(compiled.Machine))
				found := states(t, []byte(deployed(t, all.only(t, "AWS::StepFunctions::StateMachine"))))
				for _, exit := range exits {
					require.Contains(t, found, exit)
					delete(want, exit)
				}
				for name, state := range want {
					require.Equal(t, state, found[name], name)
				}
				require.ElementsMatch(t, slices.Concat(slices.Collect(maps.Keys(want)), slices.Collect(maps.Values(exits)), []string{"MineJobFailed", "MineJobTimedOut"}),
					slices.Collect(maps.Keys(found)))
			})
		}
	}
}

// Two fragments in one state machine run one behind the other, or go on where
// their exits say.
func TestE2ETwoFragments(t *testing.T) {
	t.Parallel()
	for _, strategy := range withoutLambda {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			all := synth(t, func(stack awscdk.Stack) {
				orders := export(stack, "Orders", strategy)
				customers := cdkapp.NewJobPollerFragment(stack, jsii.String("Customers"), &cdkapp.JobPollerFragmentProps{
					Job:      fromCatalog("dynamodb:ExportTableToPointInTime"),
					Strategy: strategy, MaxWait: seconds(7200), Arguments: &map[string]any{"TableArn": "arn:customers", "S3Bucket": "b"},
				})
				alarm := sfn.NewFail(stack, jsii.String("Alarm"), &sfn.FailProps{Error: jsii.String("NoExport")})
				orders.Failed().Next(alarm)
				orders.TimedOut().Next(alarm)
				host(stack, orders.Next(customers.OrFail()).Next(sfn.NewSucceed(stack, jsii.String("Published"), nil)), "")
			})
			definition := deployed(t, all.only(t, "AWS::StepFunctions::StateMachine"))
			exported := func(status string) any {
				return map[string]any{"ExportDescription": map[string]any{"ExportArn": "arn:export", "ExportStatus": status}}
			}
			for _, c := range []struct {
				orders, customers, err string
			}{{"COMPLETED", "COMPLETED", ""}, {"FAILED", "COMPLETED", "NoExport"}, {"COMPLETED", "FAILED", "JobPoller.Failed"}, {"COMPLETED", "IN_PROGRESS", "JobPoller.TimedOut"}, {"IN_PROGRESS", "", "NoExport"}} {
				s := simtest.New(t, []byte(definition))
				for prefix, end := range map[string]string{"Orders": c.orders, "Customers": c.customers} {
					s.On(prefix + "ExportTableToPointInTime").Return(exported("IN_PROGRESS"))
					s.On(prefix + "DescribeExport").Return(exported("IN_PROGRESS")).Times(3).Return(exported(end)).Times(1000)
				}
				run := s.Run(map[string]any{"TableArn": "arn:t", "S3Bucket": "b"})
				if c.err == "" {
					run.RequireSucceeded().RequireVisits("Published", 1)
				} else {
					run.RequireFailed(c.err)
				}
			}
		})
	}
}

// With Lambda functions a fragment invokes those that it is given, or that are
// made with it.
func TestE2EFragmentWithFunctions(t *testing.T) {
	t.Parallel()
	const job = "dynamodb:ExportTableToPointInTime"
	exits := map[pollcore.Status]string{pollcore.Succeeded: "OrdersOnSucceeded", pollcore.Failed: "OrdersOnFailed", pollcore.TimedOut: "OrdersOnTimedOut"}
	e, err := catalog.Lookup("dynamodb", "ExportTableToPointInTime")
	require.NoError(t, err)
	for _, strategy := range []compile.Strategy{compile.LambdaLoop, compile.LambdaRetry} {
		for _, given := range []bool{true, false} {
			var all template
			inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
				props := &cdkapp.JobPollerFragmentProps{
					Job: fromCatalog("dynamodb:ExportTableToPointInTime"), Strategy: strategy, MaxWait: seconds(7200), Scope: jsii.String("{% $states.input.item %}"),
				}
				if given {
					props.Functions = newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: jsii.Strings(job)})
				} else {
					props.Resources = &map[string]*[]*string{"s3:PutObjectAcl": jsii.Strings("arn:aws:s3:::exports/*")}
				}
				f := cdkapp.NewJobPollerFragment(stack, jsii.String("Orders"), props)
				require.Equal(t, []*string{jsii.String(job)}, *f.Functions().Jobs())
				host(stack, f.OrFail(), "")
				_, all = templateOf(stack)
			})
			functions := map[bool]string{true: "Poller", false: "OrdersFunctions"}[given]
			run, check := functionARN(t, all, functions, "RunJob"), functionARN(t, all, functions, "CheckStatus")
			compiled, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{
				Strategy: strategy, MaxWait: 2 * time.Hour, Prefix: "Orders", Exits: exits, RunJobFunction: run, CheckStatusFunction: check, Scope: "{% $states.input.item %}",
			})
			require.NoError(t, err)
			if !given {
				require.Equal(t, []string{`"arn:aws:s3:::exports/*"`}, allowed(t, all, "OrdersFunctionsRunJobRole")["s3:PutObjectAcl"])
			}
			machine := all.only(t, "AWS::StepFunctions::StateMachine")
			found := states(t, []byte(deployed(t, machine)))
			for name, state := range states(t, asl.Print(compiled.Machine)) {
				if name != exits[pollcore.Succeeded] && name != exits[pollcore.Failed] && name != exits[pollcore.TimedOut] {
					require.Equal(t, state, found[name], name)
				}
			}
			require.ElementsMatch(t, all.withVersions(t, []string{run, check}), resolve(t, all.statements(t, "HostRole")).([]any)[0].(map[string]any)["Resource"])
		}
	}
}

func TestE2EFragmentGrantsTheHost(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) { host(stack, export(stack, "Orders", compile.Variables).OrFail(), "") })
	text := asJSON(t, all.statements(t, "HostRole"))
	for _, action := range []string{"dynamodb:ExportTableToPointInTime", "dynamodb:DescribeExport", "s3:PutObject"} {
		require.Contains(t, text, `"`+action+`"`)
	}
}

func TestE2EFragmentNarrowed(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		host(stack, cdkapp.NewJobPollerFragment(stack, jsii.String("Orders"), &cdkapp.JobPollerFragmentProps{
			Job:       cdkapp.JobFromCatalog(jsii.String("dynamodb:ExportCompleted")),
			MaxWait:   awscdk.Duration_Hours(jsii.Number(2)),
			Resources: &map[string]*[]*string{"dynamodb:DescribeExport": jsii.Strings("arn:aws:dynamodb:eu-west-1:123456789012:table/Orders/export/*")},
		}).OrFail(), "")
	})
	require.JSONEq(t, `[{"Effect": "Allow", "Action": "dynamodb:DescribeExport", "Resource": "arn:aws:dynamodb:eu-west-1:123456789012:table/Orders/export/*"}]`,
		asJSON(t, all.statements(t, "HostRole")))
}

// In a Parallel a Catch takes every error, and the output is that of the
// fragment.
func TestE2EFragmentInParallel(t *testing.T) {
	t.Parallel()
	for _, strategy := range withoutLambda {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			var before, after *compile.Report
			all := synth(t, func(stack awscdk.Stack) {
				f := export(stack, "Orders", strategy)
				before = f.Report()
				parallel := f.InParallel()
				require.Equal(t, *parallel.Node().Path(), *f.InParallel().Node().Path(), "it is wrapped once")
				after = f.Report()
				parallel.AddCatch(sfn.NewPass(stack, jsii.String("Apologize"), nil), &sfn.CatchProps{Errors: jsii.Strings("States.ALL")})
				host(stack, parallel, "")
			})
			require.InDelta(t, 1, after.Worst.Transitions-before.Worst.Transitions, 0)
			require.InDelta(t, 4, after.Worst.Events-before.Worst.Events, 0)
			require.InDelta(t, 0.000_025, after.Worst.USD-before.Worst.USD, 1e-9)
			definition := deployed(t, all.only(t, "AWS::StepFunctions::StateMachine"))
			for _, end := range []string{"COMPLETED", "FAILED", "IN_PROGRESS"} {
				s := simtest.New(t, []byte(definition))
				exported := map[string]any{"ExportDescription": map[string]any{"ExportArn": "arn:export", "ExportStatus": end}}
				s.On("OrdersExportTableToPointInTime").Return(exported)
				s.On("OrdersDescribeExport").Return(exported).Times(1000)
				run := s.Run(map[string]any{"TableArn": "arn:t", "S3Bucket": "b"}).RequireSucceeded()
				if end == "COMPLETED" {
					require.Contains(t, string(run.Output), `"status":"SUCCEEDED"`)
					continue
				}
				run.RequireVisits("Apologize", 1)
			}
		})
	}
}

// A fragment is at home wherever states can be: its states find each other under
// the names that the CDK gives them, and the role may do what they need.
func TestE2EFragmentInside(t *testing.T) {
	t.Parallel()
	for name, inside := range map[string]func(stack awscdk.Stack, f cdkapp.JobPollerFragment) sfn.IChainable{
		"names with a prefix": func(_ awscdk.Stack, f cdkapp.JobPollerFragment) sfn.IChainable {
			return f.PrefixStates(jsii.String("Nightly: "))
		},
		"a single state": func(_ awscdk.Stack, f cdkapp.JobPollerFragment) sfn.IChainable {
			return f.ToSingleState(&sfn.SingleStateOptions{PrefixStates: jsii.String("Nightly: ")})
		},
		"a Map": func(stack awscdk.Stack, f cdkapp.JobPollerFragment) sfn.IChainable {
			each := sfn.NewMap(stack, jsii.String("Each"), &sfn.MapProps{QueryLanguage: sfn.QueryLanguage_JSONATA, Items: sfn.ProvideItems_JsonArray(&[]any{map[string]any{"TableArn": "arn:t", "S3Bucket": "b"}})})
			return each.ItemProcessor(f.PrefixStates(jsii.String("Nightly: ")), nil)
		},
		"a Parallel in a Parallel": func(stack awscdk.Stack, f cdkapp.JobPollerFragment) sfn.IChainable {
			return sfn.NewParallel(stack, jsii.String("Outer"), nil).Branch(sfn.NewParallel(stack, jsii.String("Inner"), nil).Branch(f.PrefixStates(jsii.String("Nightly: "))))
		},
	} {
		for _, strategy := range withoutLambda {
			for _, language := range []sfn.QueryLanguage{sfn.QueryLanguage_JSON_PATH, sfn.QueryLanguage_JSONATA} {
				if strategy == compile.Loop && language == sfn.QueryLanguage_JSONATA {
					continue
				}
				t.Run(name+" "+string(strategy)+" "+string(language), func(t *testing.T) {
					t.Parallel()
					all := synth(t, func(stack awscdk.Stack) {
						host(stack, inside(stack, export(stack, "Orders", strategy).OrFail()), language)
					})
					require.Contains(t, asJSON(t, all.statements(t, "HostRole")), `"dynamodb:DescribeExport"`)
					definition := deployed(t, all.only(t, "AWS::StepFunctions::StateMachine"))
					require.Empty(t, asl.Validate([]byte(definition), asl.Standard))
					for status, err := range map[string]string{"COMPLETED": "", "FAILED": "JobPoller.Failed", "IN_PROGRESS": "JobPoller.TimedOut"} {
						s := simtest.New(t, []byte(definition))
						exported := map[string]any{"ExportDescription": map[string]any{"ExportArn": "arn:export", "ExportStatus": status}}
						s.On("Nightly: OrdersExportTableToPointInTime").Return(exported)
						s.On("Nightly: OrdersDescribeExport").Return(exported).Times(1000)
						run := s.Run(map[string]any{"TableArn": "arn:t", "S3Bucket": "b"})
						if err == "" {
							run.RequireSucceeded()
						} else {
							run.RequireFailed(err)
						}
					}
				})
			}
		}
	}
}

// A fragment that is in no state machine needs no exits.
func TestE2EFragmentOfNoMachine(t *testing.T) {
	t.Parallel()
	require.Empty(t, synth(t, func(stack awscdk.Stack) { export(stack, "Orders", "") })["Resources"])
}

// What the CDK cannot tell before all states are chained ends the synthesis.
func TestE2EFragmentsThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		build   func(stack awscdk.Stack)
		problem string
	}{
		"exits that lead nowhere": {
			func(stack awscdk.Stack) {
				host(stack, export(stack, "Orders", "").Next(sfn.NewSucceed(stack, jsii.String("Done"), nil)), "")
			},
			"the exit Failed of Stack/Orders has no next state",
		},
		"JSONPath in JSONata": {
			func(stack awscdk.Stack) {
				host(stack, export(stack, "Orders", compile.Loop).OrFail(), sfn.QueryLanguage_JSONATA)
			},
			"'queryLanguage' can not be 'JSONPath'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inStack(t, func(stack awscdk.Stack) {
				defer func() { require.Contains(t, fmt.Sprint(recover()), c.problem) }()
				c.build(stack)
				templateOf(stack)
			})
		})
	}
}

func TestE2EFragmentProps(t *testing.T) {
	t.Parallel()
	for prop, change := range map[string]func(p *cdkapp.JobPollerFragmentProps){
		"Job":     func(p *cdkapp.JobPollerFragmentProps) { p.Job = nil },
		"MaxWait": func(p *cdkapp.JobPollerFragmentProps) { p.MaxWait = nil },
		"Prefix":  func(p *cdkapp.JobPollerFragmentProps) { p.Prefix = new("my poller") },
		"Scope":   func(p *cdkapp.JobPollerFragmentProps) { p.Scope = new("{% $i %}") },
		"Resources": func(p *cdkapp.JobPollerFragmentProps) {
			p.Resources = &map[string]*[]*string{"s3:GetObject": {new("*")}}
		},
		"Functions":     func(p *cdkapp.JobPollerFragmentProps) { p.Strategy = compile.LambdaLoop },
		"InitialDelay":  func(p *cdkapp.JobPollerFragmentProps) { p.InitialDelay = seconds(0.5) },
		"Schedule":      func(p *cdkapp.JobPollerFragmentProps) { p.Schedule = &pollcore.Planned{} },
		"OnTimeout":     func(p *cdkapp.JobPollerFragmentProps) { p.OnTimeout = "NEVER" },
		"CausePatterns": func(p *cdkapp.JobPollerFragmentProps) { p.CausePatterns = &map[string]*string{"X": new("")} },
	} {
		t.Run(prop, func(t *testing.T) {
			t.Parallel()
			p := problem(t, func(stack awscdk.Stack) {
				props := &cdkapp.JobPollerFragmentProps{Job: fromCatalog("dynamodb:ExportCompleted"), MaxWait: seconds(3600)}
				if prop == "Functions" { // of other jobs
					props.Functions = newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: &[]*string{new("glue:StartJobRun")}})
				}
				change(props)
				cdkapp.NewJobPollerFragment(stack, new("Orders"), props)
			})
			require.Equal(t, prop, p.Prop)
			require.Equal(t, "Stack/Orders", p.Path)
		})
	}
	p := problem(t, func(stack awscdk.Stack) {
		cdkapp.NewJobPollerFragment(stack, new("Orders"), &cdkapp.JobPollerFragmentProps{Job: cdkapp.JobFromShipped(new("ec2-image")), MaxWait: seconds(3600)})
	})
	require.Equal(t, "Job", p.Prop)
	for _, n := range []int{70, 60} { // the exits' names, then that of ExportTableToPointInTime
		p = problem(t, func(stack awscdk.Stack) { export(stack, strings.Repeat("x", n), "") })
		require.Equal(t, "Prefix", p.Prop)
	}
	p = problem(t, func(stack awscdk.Stack) {
		cdkapp.NewJobPollerFragment(stack, new("42"), &cdkapp.JobPollerFragmentProps{Job: fromCatalog("dynamodb:ExportCompleted"), MaxWait: seconds(3600)})
	})
	require.Equal(t, "Prefix", p.Prop)
}

// What a report warns of is a warning of the synthesis.
func TestE2EWarningsOfReports(t *testing.T) {
	t.Parallel()
	inStack(t, func(stack awscdk.Stack) {
		job := fromCatalog("endusermessaging:JobSuccess")
		cdkapp.NewJobPoller(stack, new("Poller"), &cdkapp.JobPollerProps{Job: job, MaxWait: seconds(3600), Fit: new(true)})
		host(stack, cdkapp.NewJobPollerFragment(stack, new("Fragment"), &cdkapp.JobPollerFragmentProps{Job: job, MaxWait: seconds(3600), Fit: new(true)}).OrFail(), "")
		for _, construct := range []string{"/Stack/Poller", "/Stack/Fragment"} {
			assertions.Annotations_FromStack(stack).HasWarning(&construct, assertions.Match_StringLikeRegexp(new("endusermessaging")))
		}
		known := exporting()
		known.Arguments = &map[string]any{"TableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/orders", "S3Bucket": "exports"}
		cdkapp.NewJobPoller(stack, new("Known"), known)
		assertions.Annotations_FromStack(stack).HasNoWarning(new("/Stack/Known"), assertions.Match_AnyValue())
		// The compiler chooses what the props leave open, and the synthesis says so.
		for id, c := range map[string]struct {
			signal    cdkapp.Signal
			maxDelay  awscdk.Duration
			fits, why string
		}{
			"Delay":    {cdkapp.SignalPoll, nil, "variables", "the longest delay is 113 s, not 60 s: "},
			"Strategy": {cdkapp.SignalPoll, seconds(60), "retry-task", "the strategy is retry-task, not variables: "},
			"Auto":     {cdkapp.SignalAuto, seconds(60), "retry-task", "the strategy is retry-task, not variables: "},
		} {
			long := exporting()
			long.Arguments, long.Signal, long.MaxWait, long.MaxDelay = known.Arguments, c.signal, seconds(300_000), c.maxDelay
			poller := cdkapp.NewJobPoller(stack, new(id), long)
			require.Equal(t, c.fits, string(poller.Report().Strategy))
			assertions.Annotations_FromStack(stack).HasInfo(new("/Stack/"+id), assertions.Match_StringLikeRegexp(&c.why))
		}
	})
}
