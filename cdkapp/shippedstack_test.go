//go:build e2e

package cdkapp_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// shipping is a context, with packages of the functions that are not built.
func shipping(t *testing.T, context map[string]any) map[string]any {
	t.Helper()
	all := map[string]any{"jobpoller:codeFolder": *codeFolder(t)}
	maps.Copy(all, context)
	return all
}

// ship returns the template of the stack that the context asks for.
func ship(t *testing.T, context map[string]any) (assertions.Template, template) {
	t.Helper()
	var synthesized assertions.Template
	var all template
	inStackWith(t, shipping(t, context), func(stack awscdk.Stack) {
		synthesized, all = templateOf(cdkapp.NewShippedStack(stack, new("JobPoller"), nil))
	})
	return synthesized, all
}

// allShipped is what all definitions need to be told.
var allShipped = map[string]any{
	"jobs":                                    "all",
	"rds-snapshot-export:iam:PassRole":        "arn:aws:iam::123456789012:role/export",
	"comprehend-entities:iam:PassRole":        "arn:aws:iam::123456789012:role/comprehend, arn:aws:iam::123456789012:role/other",
	"bedrock-model-invocation:iam:PassRole":   "",
	"cloudformation-stack:iam:PassRole":       "arn:aws:iam::123456789012:role/deploy",
	"dynamodb-export-loop:s3:PutObject":       []any{"arn:aws:s3:::exports/*"},
	"functions:dynamodb:DescribeExport":       "arn:aws:dynamodb:us-east-1:123456789012:table/Orders/export/*",
	"@aws-cdk/aws-iam:minimizePolicies":       true,
	"availability-zones:account=1:region=us1": []any{"us1a"},
}

func TestE2EShippedStackWithAll(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"bucket", "table"} {
		context := maps.Clone(allShipped)
		context["store"] = store
		_, all := ship(t, context)
		require.Len(t, all.of("AWS::StepFunctions::StateMachine"), len(statemachines.Names()))
		require.Len(t, all.of("AWS::Lambda::Function"), 2, "shared by the definitions that need them")
		require.Equal(t, store == "bucket", len(all.of("AWS::S3::Bucket")) == 1)
		require.Equal(t, store == "table", len(all.of("AWS::DynamoDB::Table")) == 1)
		require.Len(t, all["Outputs"], 2*len(statemachines.Names())+1)

		functions := strings.NewReplacer(
			statemachines.RunJobFunction, functionARN(t, all, "Functions", "RunJob"),
			statemachines.CheckStatusFunction, functionARN(t, all, "Functions", "CheckStatus"),
		)
		for _, name := range statemachines.Names() {
			shipped, err := statemachines.Definition(name)
			require.NoError(t, err)
			machine := all.named(t, "AWS::StepFunctions::StateMachine", pascal(name)+"StateMachine")
			require.Equal(t, functions.Replace(string(shipped)), deployed(t, machine), name)
			require.Empty(t, asl.Validate([]byte(deployed(t, machine)), asl.Standard), name)
			given := map[string][]string{}
			switch name {
			case "rds-snapshot-export":
				given["iam:PassRole"] = []string{"arn:aws:iam::123456789012:role/export"}
			case "comprehend-entities":
				given["iam:PassRole"] = []string{"arn:aws:iam::123456789012:role/comprehend", "arn:aws:iam::123456789012:role/other"}
			case "bedrock-model-invocation":
				given["iam:PassRole"] = nil
			case "cloudformation-stack":
				given["iam:PassRole"] = []string{"arn:aws:iam::123456789012:role/deploy"}
			case "dynamodb-export-loop":
				given["s3:PutObject"] = []string{"arn:aws:s3:::exports/*"}
			}
			requireJustified(t, all, machine, given, "", true)
		}
		require.Equal(t, []string{`"arn:aws:dynamodb:us-east-1:123456789012:table/Orders/export/*"`},
			allowed(t, all, "FunctionsCheckStatusRole")["dynamodb:DescribeExport"])
	}
}

// pascal is the name of a definition as an ID.
func pascal(name string) string {
	parts := strings.Split(name, "-")
	for i, part := range parts {
		parts[i] = strings.ToUpper(part[:1]) + part[1:]
	}
	return strings.Join(parts, "")
}

func TestE2EShippedStackDefaults(t *testing.T) {
	t.Parallel()
	synthesized, all := ship(t, nil)
	requireGolden(t, "shippedstack", all)
	kernel.Lock()
	defer kernel.Unlock()
	for kind, count := range map[string]float64{
		"AWS::StepFunctions::StateMachine": 2, "AWS::Lambda::Function": 2, "AWS::S3::Bucket": 1, "AWS::DynamoDB::Table": 0,
		"AWS::CloudWatch::Dashboard": 0, "AWS::CloudWatch::Alarm": 9,
	} {
		synthesized.ResourceCountIs(&kind, &count)
	}
	require.Equal(t, "dynamodb:ExportTableToPointInTime", functionVariables(t, all)["JOBPOLLER_JOBS"])
	require.Equal(t, "Retain", all.only(t, "AWS::S3::Bucket").all["DeletionPolicy"])
	outputs := slices.Collect(maps.Keys(all["Outputs"].(map[string]any)))
	require.Len(t, outputs, 5)
	require.Contains(t, outputs, "RecordBucket")
}

// functionVariables are the variables of the functions.
func functionVariables(t *testing.T, all template) map[string]any {
	t.Helper()
	run := all.named(t, "AWS::Lambda::Function", "FunctionsRunJob").properties["Environment"]
	require.Equal(t, run, all.named(t, "AWS::Lambda::Function", "FunctionsCheckStatus").properties["Environment"])
	return run.(map[string]any)["Variables"].(map[string]any)
}

// Every value of the context that changes what is deployed.
func TestE2EShippedStackContext(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		context map[string]any
		check   func(t *testing.T, all template)
	}{
		"no functions": {map[string]any{"jobs": "ec2-image, glue-crawler,ec2-image"}, func(t *testing.T, all template) {
			t.Helper()
			require.Len(t, all.of("AWS::StepFunctions::StateMachine"), 2)
			require.Empty(t, all.of("AWS::Lambda::Function"))
			require.Empty(t, all.of("AWS::S3::Bucket"))
		}},
		"a list in cdk.json": {map[string]any{"jobs": []any{"ec2-image"}}, func(t *testing.T, all template) {
			t.Helper()
			require.Contains(t, all.only(t, "AWS::StepFunctions::StateMachine").id, "Ec2Image")
		}},
		"a job that the definition names": {map[string]any{"jobs": "lambda-retry"}, func(t *testing.T, all template) {
			t.Helper()
			require.Equal(t, "dynamodb:ExportTableToPointInTime", functionVariables(t, all)["JOBPOLLER_JOBS"])
		}},
		"jobs that the input names": {
			map[string]any{"jobs": "lambda-loop-count,lambda-retry", "functionJobs": "http:Request,glue:StartJobRun", "httpHosts": "api.example.com"},
			func(t *testing.T, all template) {
				t.Helper()
				variables := functionVariables(t, all)
				require.Equal(t, "dynamodb:ExportTableToPointInTime,glue:StartJobRun,http:Request", variables["JOBPOLLER_JOBS"])
				require.Equal(t, "api.example.com", variables["JOBPOLLER_HTTP_HOSTS"])
				require.Len(t, all.of("AWS::Lambda::Function"), 2)
			},
		},
		"logs and traces": {
			map[string]any{"jobs": "lambda-loop", "logLevel": "ERROR", "tracing": "false"},
			func(t *testing.T, all template) {
				t.Helper()
				machine := all.only(t, "AWS::StepFunctions::StateMachine").properties
				require.Equal(t, "ERROR", machine["LoggingConfiguration"].(map[string]any)["Level"])
				require.Equal(t, map[string]any{"Enabled": false}, machine["TracingConfiguration"])
				require.NotContains(t, all.named(t, "AWS::Lambda::Function", "FunctionsRunJob").properties, "TracingConfig")
			},
		},
		"no logs, no alarms": {map[string]any{"jobs": "ec2-image", "logLevel": "OFF", "alarms": false}, func(t *testing.T, all template) {
			t.Helper()
			require.Empty(t, all.of("AWS::Logs::LogGroup"))
			require.Empty(t, all.of("AWS::CloudWatch::Alarm"))
		}},
		"an alarm topic and a dashboard": {
			map[string]any{"jobs": "lambda-loop", "alarmTopic": "arn:aws:sns:us-east-1:123456789012:alarms", "dashboard": true},
			func(t *testing.T, all template) {
				t.Helper()
				require.Len(t, all.of("AWS::CloudWatch::Dashboard"), 1)
				for _, alarm := range all.of("AWS::CloudWatch::Alarm") {
					require.Equal(t, []any{"arn:aws:sns:us-east-1:123456789012:alarms"}, alarm.properties["AlarmActions"], alarm.id)
				}
			},
		},
		"what goes with the stack": {map[string]any{"removal": "destroy"}, func(t *testing.T, all template) {
			t.Helper()
			require.Equal(t, "Delete", all.only(t, "AWS::S3::Bucket").all["DeletionPolicy"])
		}},
		"what stays": {map[string]any{"removal": "retain", "store": "table"}, func(t *testing.T, all template) {
			t.Helper()
			require.Equal(t, "Retain", all.only(t, "AWS::DynamoDB::Table").all["DeletionPolicy"])
			for _, log := range all.of("AWS::Logs::LogGroup") {
				require.Equal(t, "Retain", log.all["DeletionPolicy"], log.id)
			}
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, all := ship(t, tt.context)
			tt.check(t, all)
		})
	}
}

// A definition that a later command leaves out stays at AWS with all that its
// executions use, unless the command before has said that it goes.
func TestE2EForgottenDefinitionIsNotDeleted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		context map[string]any
		deleted []string // beginnings of logical IDs
	}{
		"nothing said":        {map[string]any{}, nil},
		"a definition":        {map[string]any{"remove": "ec2-image"}, []string{"Ec2Image"}},
		"all that is invoked": {map[string]any{"remove": "lambda-loop,functions"}, []string{"LambdaLoop", "Functions"}},
		"the stack":           {map[string]any{"removal": "destroy"}, []string{"Ec2Image", "LambdaLoop", "Functions", "Records"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.context["jobs"] = "ec2-image,lambda-loop"
			_, all := ship(t, c.context)
			for id, r := range all["Resources"].(map[string]any) {
				r := r.(map[string]any)
				if kind := r["Type"].(string); strings.HasPrefix(kind, "AWS::CloudWatch::") || kind == "AWS::S3::BucketPolicy" {
					continue
				}
				want := "Retain"
				if slices.ContainsFunc(c.deleted, func(prefix string) bool { return strings.HasPrefix(id, prefix) }) {
					want = "Delete"
				}
				require.Equal(t, want, r["DeletionPolicy"], id)
			}
			for _, machine := range all.of("AWS::StepFunctions::StateMachine") {
				gone := slices.ContainsFunc(c.deleted, func(prefix string) bool { return strings.HasPrefix(machine.id, prefix) })
				require.Contains(t, asJSON(t, machine.properties["Tags"]), map[bool]string{true: `"destroy"`, false: `"retain"`}[gone],
					"CloudFormation takes a policy only with a change of a resource")
			}
		})
	}
}

// A store that becomes the previous one stays the same resource.
func TestE2EPreviousStoreOfTheAppIsTheOneThatWas(t *testing.T) {
	t.Parallel()
	kinds := map[string]string{"bucket": "AWS::S3::Bucket", "table": "AWS::DynamoDB::Table"}
	for before, now := range map[string]string{"bucket": "table", "table": "bucket"} {
		_, was := ship(t, map[string]any{"store": before})
		_, is := ship(t, map[string]any{"store": now, "previousStore": before, "retiredJobs": "glue:StartJobRun"})
		require.Equal(t, was.only(t, kinds[before]), is.only(t, kinds[before]))
		_, after := ship(t, map[string]any{"store": now})
		require.Equal(t, after.only(t, kinds[now]), is.only(t, kinds[now]))
		variables := functionVariables(t, is)
		require.Contains(t, variables, "JOBPOLLER_PREVIOUS_"+strings.ToUpper(before))
		require.Contains(t, variables, "JOBPOLLER_"+strings.ToUpper(now))
		require.Contains(t, allowed(t, is, "FunctionsCheckStatusRole"), "glue:GetJobRun")
	}
}

func TestE2EShippedStackAttributes(t *testing.T) {
	t.Parallel()
	inStackWith(t, shipping(t, map[string]any{"jobs": "lambda-loop,ec2-image", "stackName": "Nightly"}), func(stack awscdk.Stack) {
		shipped := cdkapp.NewShippedStack(stack, new("JobPoller"), nil)
		require.Equal(t, "Nightly", *shipped.StackName())
		require.Equal(t, []string{"ec2-image", "lambda-loop"}, slices.Sorted(maps.Keys(shipped.Pollers())))
		require.NotNil(t, shipped.Pollers()["ec2-image"].Report())
		require.Equal(t, shipped.Functions().Node().Path(), shipped.Pollers()["lambda-loop"].Functions().Node().Path())
	})
	inStackWith(t, map[string]any{"jobs": "ec2-image"}, func(stack awscdk.Stack) {
		require.Nil(t, cdkapp.NewShippedStack(stack, new("JobPoller"), nil).Functions())
	})
}

// docs/guide/cdk-app.md has every name, and the stack notices when one is misspelt.
func TestE2EContextIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/guide/cdk-app.md")
	require.NoError(t, err)
	source, err := os.ReadFile("shippedstack.go")
	require.NoError(t, err)
	names := regexp.MustCompile(`(?m)^\tcontext\w+ += "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	require.Len(t, names, 14)
	for _, name := range append(names, []string{"", cdkapp.ContextCodeFolder}) {
		require.Contains(t, string(page), "\n- `"+name[1]+"`: ")
		misspelt := strings.ToUpper(name[1])
		refused := contextProblem(t, map[string]any{misspelt: "x"})
		require.Equal(t, misspelt, refused.Context)
		require.Equal(t, `there is no such key (did you mean "`+name[1]+`"?)`, refused.Problem)
	}
}

// contextProblem returns the Error that a stack with the context panics with.
func contextProblem(t *testing.T, context map[string]any) *cdkapp.Error {
	t.Helper()
	var found *cdkapp.Error
	inStackWith(t, shipping(t, context), func(stack awscdk.Stack) {
		defer func() {
			err, _ := recover().(error)
			require.ErrorAs(t, err, &found)
		}()
		cdkapp.NewShippedStack(stack, new("JobPoller"), nil)
	})
	return found
}

// The commands of the pages deploy something.
func TestE2EDeployCommands(t *testing.T) {
	t.Parallel()
	commands := 0
	for _, page := range []string{"../docs/guide/cdk-app.md", "../docs/reference/shipped.md"} {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, command := range regexp.MustCompile(`(?m)^npx cdk deploy ((?:.*\\\n)*.*)$`).FindAllStringSubmatch(string(text), -1) {
			commands++
			context := map[string]any{}
			for _, option := range regexp.MustCompile(`-c '?([^ =']+)=([^ ']+)`).FindAllStringSubmatch(command[1], -1) {
				context[option[1]] = option[2]
			}
			require.Len(t, context, strings.Count(command[1], "-c "))
			_, all := ship(t, context)
			require.NotEmpty(t, all.of("AWS::StepFunctions::StateMachine"), command[0])
		}
	}
	require.Equal(t, 7, commands)
}

// CloudFormation reads the template and takes the role with the permissions of who
// calls CreateStack.
// Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
func TestE2ERoleOfCloudFormationStackReadsItsTemplateAndPassesItsRole(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/reference/shipped.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## cloudformation-stack\n")
	require.True(t, found)
	var input struct {
		TemplateURL string `json:"TemplateURL"`
		RoleARN     string `json:"RoleARN"`
	}
	require.NoError(t, json.Unmarshal([]byte(regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(section)[1]), &input))
	of, _, _ := strings.Cut(section, "\n## ")
	context := map[string]any{}
	for _, option := range regexp.MustCompile(`-c '?([^ =']+)=([^ '\n]+)`).FindAllStringSubmatch(of, -1) {
		context[option[1]] = option[2]
	}
	_, all := ship(t, context)
	iam := newAccess(t, assembly{template: all})
	role := roleOfResource(t, all.only(t, "AWS::StepFunctions::StateMachine"))
	bucket, key, _ := strings.Cut(strings.TrimPrefix(input.TemplateURL, "https://"), ".s3.amazonaws.com/")
	for action, resource := range map[string]string{
		"cloudformation:CreateStack": "arn:aws:cloudformation:us-east-1:123456789012:stack/orders/1", "cloudformation:DescribeStacks": "arn:aws:cloudformation:us-east-1:123456789012:stack/orders/1",
		"s3:GetObject": "arn:aws:s3:::" + bucket + "/" + key, "iam:PassRole": input.RoleARN,
	} {
		require.True(t, iam.allows(role, action, resource, map[string]string{"iam:PassedToService": "cloudformation.amazonaws.com"}), "%s on %s", action, resource)
	}
	require.False(t, iam.allows(role, "iam:PassRole", "arn:aws:iam::123456789012:role/admin", map[string]string{"iam:PassedToService": "cloudformation.amazonaws.com"}))
	require.False(t, iam.allows(role, "iam:PassRole", input.RoleARN, map[string]string{"iam:PassedToService": "ec2.amazonaws.com"}))
	require.False(t, iam.allows(role, "s3:GetObject", "arn:aws:s3:::secrets/key", nil))
}

// A context that cannot be used is refused with its key, and what to do.
func TestE2EShippedStackRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		key, want string
		context   map[string]any
	}{
		{"jobs", `there is no shipped definition "dynamodb-export-lop" (did you mean "dynamodb-export-loop"?); there are bedrock-`, map[string]any{"jobs": "ec2-image,dynamodb-export-lop"}},
		{"jobs", `"all" stands for all definitions: leave the others out, or "all"`, map[string]any{"jobs": "all,ec2-image"}},
		{"job", `there is no such key (did you mean "jobs"?)`, map[string]any{"job": "ec2-image"}},
		{"stackname", `there is no such key (did you mean "stackName"?)`, map[string]any{"stackname": "Nightly"}},
		{"jobpoller:codefolder", `there is no such key (did you mean "jobpoller:codeFolder"?)`, map[string]any{"jobpoller:codefolder": "dist"}},
		{"stackName", `expected up to 128 letters, digits and hyphens, and a letter first, found "My Stack"`, map[string]any{"stackName": "My Stack"}},
		{"stackName", "expected up to 128 letters, ", map[string]any{"stackName": strings.Repeat("a", 129)}},
		{"jobs", "it is empty: leave it out for dynamodb-export-variables,lambda-loop, or name some of bedrock-", map[string]any{"jobs": ","}},
		{"jobs", "expected names with commas between them, found 3", map[string]any{"jobs": 3}},
		{"jobs", "expected a list of texts, found 3 in it", map[string]any{"jobs": []any{3}}},
		{"store", `expected one of bucket, table, found "tabel" (did you mean "table"?)`, map[string]any{"store": "tabel"}},
		{"store", "no definition invokes them: leave it out, or add lambda-loop to jobs", map[string]any{"jobs": "ec2-image", "store": "table"}},
		{"previousStore", "it is the current store", map[string]any{"store": "bucket", "previousStore": "bucket"}},
		{"remove", `this command does not deploy "ec2-image": keep it in jobs this time, and leave it out next time; there are glue-crawler`, map[string]any{"jobs": "glue-crawler", "remove": "ec2-image"}},
		{"retiredJobs", "the functions already start glue:StartJobRun", map[string]any{"functionJobs": "glue:StartJobRun", "retiredJobs": "glue:StartJobRun"}},
		{"retiredJobs", `the functions have no driver for the job "glue:StartJobRuns"`, map[string]any{"retiredJobs": "glue:StartJobRuns"}},
		{"logLevel", `expected one of ALL, ERROR, FATAL, OFF, found "error" (did you mean "ERROR"?)`, map[string]any{"logLevel": "error"}},
		{"logLevel", "expected text, found true", map[string]any{"logLevel": true}},
		{"removal", `expected one of retain, destroy, found "keep"`, map[string]any{"removal": "keep"}},
		{"tracing", `expected true or false, found "yes"`, map[string]any{"tracing": "yes"}},
		{"alarmTopic", `expected the ARN of an SNS topic, found "alarms"`, map[string]any{"alarmTopic": "alarms"}},
		{"alarmTopic", `expected the ARN of an SNS topic, found "arn:aws:sqs:`, map[string]any{"alarmTopic": "arn:aws:sqs:us-east-1:123456789012:alarms"}},
		{"alarmTopic", "alarms is false, so no alarm is sent", map[string]any{"alarmTopic": "arn:aws:sns:us-east-1:123456789012:alarms", "alarms": "false"}},
		{"functionJobs", "it is only for lambda-loop and lambda-loop-count, whose input names the job", map[string]any{"jobs": "lambda-retry", "functionJobs": "glue:StartJobRun"}},
		{"functionJobs", `the functions have no driver for the job "glue:StartJobRuns"`, map[string]any{"functionJobs": "glue:StartJobRuns"}},
		{"httpHosts", "the job http:Request needs it: name the hosts that it may call", map[string]any{"functionJobs": "http:Request"}},
		{"httpHosts", "it is only for the job http:Request: add that to functionJobs", map[string]any{"httpHosts": "api.example.com"}},
		{
			"rds-snapshot-export:iam:PassRole",
			"rds-snapshot-export passes a role to its service, and could pass any role of the account: add -c rds-snapshot-export:iam:PassRole=<its ARN>",
			map[string]any{"jobs": "rds-snapshot-export"},
		},
		{"cloudformation-stack:iam:PassRole", "cloudformation-stack passes a role to its service", map[string]any{"jobs": "cloudformation-stack"}},
		{
			"comprehend-entities:iam:PassRole",
			"or nothing after the = if the job passes none; also missing: functions:iam:PassRole, rds-snapshot-export:iam:PassRole",
			map[string]any{"jobs": "comprehend-entities,lambda-loop,rds-snapshot-export", "functionJobs": "comprehend:StartEntitiesDetectionJob"},
		},
		{
			"functions:iam:PassRole", "a job of the functions passes a role to its service",
			map[string]any{"functionJobs": "comprehend:StartEntitiesDetectionJob"},
		},
		{
			"ec2-image:ec2:CreateImages", `ec2-image: the action "ec2:CreateImages" is not needed (did you mean "ec2:CreateImage"?); these are: ec2:CreateImage, `,
			map[string]any{"jobs": "ec2-image", "ec2-image:ec2:CreateImages": "*"},
		},
		{"ec2-image:CreateImage", `the action "CreateImage" is not needed; these are: ec2:CreateImage, `, map[string]any{"jobs": "ec2-image", "ec2-image:CreateImage": "*"}},
		{"ec2-image:ec2:CreateImage", `expected ARNs, found "i-1"`, map[string]any{"jobs": "ec2-image", "ec2-image:ec2:CreateImage": "*, i-1"}},
		{"lambda-loop:glue:StartJobRun", "write functions:glue:StartJobRun instead", map[string]any{"lambda-loop:glue:StartJobRun": "*"}},
		{"ec2-image:ec2:CreateImage", "ec2-image is not deployed: add it to jobs, which has glue-crawler", map[string]any{"jobs": "glue-crawler", "ec2-image:ec2:CreateImage": "*"}},
		{"ec2-imag:ec2:CreateImage", `there is no shipped definition "ec2-imag" (did you mean "ec2-image"?)`, map[string]any{"ec2-imag:ec2:CreateImage": "*"}},
	} {
		t.Run(tt.key, func(t *testing.T) {
			t.Parallel()
			found := contextProblem(t, tt.context)
			require.Equal(t, tt.key, found.Context)
			require.Contains(t, found.Error(), "Stack/JobPoller: context "+tt.key+": ")
			require.Contains(t, found.Problem, tt.want)
		})
	}
}
