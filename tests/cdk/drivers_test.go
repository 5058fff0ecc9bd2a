//go:build e2e

package cdk_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/internal/dynalite"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/handler/anystore"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore"
)

const (
	account  = "123456789012"
	region   = "eu-west-1"
	passRole = "iam:PassRole"
	someRole = "arn:aws:iam::123456789012:role/job"
)

// template is a template of CloudFormation.
type template map[string]any

// synth returns the template of a stack, in an account and a region that are known.
func synth(t *testing.T, build func(stack awscdk.Stack)) template {
	t.Helper()
	app := awscdk.NewApp(&awscdk.AppProps{
		Outdir: jsii.String(t.TempDir()), AnalyticsReporting: jsii.Bool(false), Context: &map[string]any{cdkapp.ContextCodeFolder: packages(t)},
	})
	stack := awscdk.NewStack(app, jsii.String("Stack"), &awscdk.StackProps{
		Env: &awscdk.Environment{Account: jsii.String(account), Region: jsii.String(region)},
	})
	build(stack)
	return *assertions.Template_FromStack(stack, nil).ToJSON()
}

// packages returns a folder with packages of the functions that nobody can run.
func packages(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"runjob", "checkstatus", "collector"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name+"-arm64.zip"), []byte(name), 0o600))
	}
	return folder
}

// of returns the properties of the resources of a type, by their logical IDs.
func (all template) of(kind string) map[string]map[string]any {
	found := map[string]map[string]any{}
	for id, r := range all["Resources"].(map[string]any) {
		if r := r.(map[string]any); r["Type"] == kind {
			found[id] = r["Properties"].(map[string]any)
		}
	}
	return found
}

// grants are the resources of each action.
type grants map[string][]string

func (g grants) add(action, resource string) {
	if !slices.Contains(g[action], resource) {
		g[action] = append(g[action], resource)
	}
	slices.Sort(g[action])
}

// jobGrants returns what the roles are allowed whose logical ID begins so, but
// for what all functions need: their log, their traces and their records.
func (all template) jobGrants(t *testing.T, role string) grants {
	t.Helper()
	found := grants{}
	for _, policy := range all.of("AWS::IAM::Policy") {
		if !strings.HasPrefix(policy["Roles"].([]any)[0].(map[string]any)["Ref"].(string), role) {
			continue
		}
		for _, s := range policy["PolicyDocument"].(map[string]any)["Statement"].([]any) {
			s := s.(map[string]any)
			require.Equal(t, "Allow", s["Effect"])
			for _, action := range list(s["Action"]) {
				for _, resource := range list(s["Resource"]) {
					text := flat(resource)
					if strings.HasPrefix(action.(string), "sqs:") || strings.HasPrefix(text, "${Records") || strings.HasPrefix(action.(string), "xray:Put") || strings.Contains(text, "Log") && strings.HasPrefix(action.(string), "logs:") {
						continue
					}
					found.add(action.(string), text)
				}
			}
		}
	}
	return found
}

func list(value any) []any {
	if several, ok := value.([]any); ok {
		return several
	}
	return []any{value}
}

// flat is a value of a template with ${...} for what CloudFormation fills in.
func flat(value any) string {
	object, ok := value.(map[string]any)
	if !ok {
		return value.(string)
	}
	if name, ok := object["Ref"].(string); ok {
		return "${" + name + "}"
	}
	if attribute, ok := object["Fn::GetAtt"].([]any); ok {
		return "${" + attribute[0].(string) + "." + attribute[1].(string) + "}"
	}
	var text strings.Builder
	for _, part := range object["Fn::Join"].([]any)[1].([]any) {
		text.WriteString(flat(part))
	}
	return text.String()
}

var placeholder = regexp.MustCompile(`\$\{[^}]*\}`)

// needed returns what a driver says that its methods need.
func needed(driver jobs.Driver, into grants, methods ...access.Purpose) {
	for _, p := range driver.Permissions() {
		if !slices.Contains(methods, p.For) || driver.Name() == "lambda:Invoke" && strings.HasPrefix(p.Action, "s3:") {
			continue // the status is among the records
		}
		resource := placeholder.ReplaceAllStringFunc(p.Resource, func(name string) string {
			switch name {
			case "${Partition}":
				return "${AWS::Partition}"
			case "${Region}":
				return region
			case "${Account}":
				return account
			default:
				return "*"
			}
		})
		if p.Action == passRole {
			resource = someRole
		}
		into.add(p.Action, resource)
	}
	for action, resources := range into {
		if slices.Contains(resources, "*") { // the others are among these
			into[action] = []string{"*"}
		}
	}
}

// functions deploys functions for the drivers, in a store of another construct: with a
// collector, if that is a table.
func functions(stack awscdk.Stack, store cdkapp.RecordStore, id string, drivers []jobs.Driver) {
	props := cdkapp.FunctionsProps{Store: store, Collector: new(store.Table() != nil)}
	var names []string
	for _, d := range drivers {
		names = append(names, d.Name())
		if d.Name() == httpjob.Name {
			props.HttpHosts = jsii.Strings("api.example.com")
		}
		if slices.ContainsFunc(d.Permissions(), func(p access.Permission) bool { return p.Action == passRole }) {
			props.Resources = &map[string]*[]*string{passRole: jsii.Strings(someRole)}
		}
	}
	props.Jobs = jsii.Strings(names...)
	cdkapp.NewFunctions(stack, jsii.String(id), &props)
}

// groups are the drivers of the functions, each built-in one alone, those of the
// catalogue by service.
func groups(t *testing.T) [][]jobs.Driver {
	t.Helper()
	environment := jobs.Environment{AWS: aws.Config{Region: region}, Bucket: "jobpoller", Getenv: func(name string) string {
		return map[string]string{httpjob.EnvHosts: "api.example.com"}[name]
	}}
	var all [][]jobs.Driver
	known := map[string]bool{}
	registry, err := jobs.Build(environment, builtin.Drivers()...)
	require.NoError(t, err)
	for _, name := range registry.Names() {
		driver, err := registry.Driver(name)
		require.NoError(t, err)
		all = append(all, []jobs.Driver{driver})
		known[driver.Name()] = true
	}
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	for _, s := range services {
		var group []jobs.Driver
		for _, e := range s.Entries {
			if known[s.Key+":"+e.Name] {
				continue
			}
			driver, err := awsjob.NewDriver(environment.AWS, catalog.AWS(), s.Key+":"+e.Name)
			require.NoError(t, err)
			group = append(group, driver)
		}
		if len(group) > 0 {
			all = append(all, group)
		}
	}
	return all
}

// The collector is allowed what check-status is, and to describe many jobs in one call.
//
//nolint:paralleltest // the tests share one process of Node.js
func TestE2ERoleOfTheCollectorAllowsWhatDriversNeed(t *testing.T) {
	want, describes := grants{}, grants{}
	var all []jobs.Driver
	for _, drivers := range groups(t) {
		for _, driver := range drivers {
			together := grants{}
			if needed(driver, together, access.ForBatch); len(together) == 0 {
				continue
			}
			all = append(all, driver)
			needed(driver, want, access.ForDescribe, access.ForBatch, access.ForStop)
			needed(driver, describes, access.ForDescribe, access.ForStop)
		}
	}
	require.Len(t, all, 18)
	found := synth(t, func(stack awscdk.Stack) {
		functions(stack, cdkapp.NewRecordTable(stack, jsii.String("Records"), nil), "Functions", all)
	})
	require.Equal(t, want, found.jobGrants(t, "FunctionsCollector"))
	require.Equal(t, describes, found.jobGrants(t, "FunctionsCheckStatus"))
	require.NotEqual(t, want, describes)
}

// The role of each function is allowed what the drivers of its jobs call, or the
// service for them, on the resources that they know, and nothing else.
//
//nolint:paralleltest // the tests share one process of Node.js
func TestE2ERolesAllowWhatDriversNeed(t *testing.T) {
	tested := 0
	for part := range slices.Chunk(groups(t), 35) { // 500 resources a stack
		all := synth(t, func(stack awscdk.Stack) {
			store := cdkapp.NewRecordBucket(stack, jsii.String("Records"), nil)
			for i, drivers := range part {
				functions(stack, store, "Group"+strconv.Itoa(i)+"x", drivers)
			}
		})
		for i, drivers := range part {
			run, check := grants{}, grants{}
			for _, driver := range drivers {
				tested++
				needed(driver, run, access.ForStart, access.ForFind)
				needed(driver, check, access.ForDescribe, access.ForStop)
			}
			id := "Group" + strconv.Itoa(i) + "x"
			require.Equal(t, run, all.jobGrants(t, id+"RunJob"), drivers[0].Name())
			require.Equal(t, check, all.jobGrants(t, id+"CheckStatus"), drivers[0].Name())
		}
	}
	require.Greater(t, tested, 400)
}

// The functions understand the environment that they are deployed with.
func TestE2EFunctionsUnderstandTheirEnvironment(t *testing.T) {
	for name, newStore := range map[string]func(stack awscdk.Stack) cdkapp.RecordStore{
		"bucket": func(stack awscdk.Stack) cdkapp.RecordStore {
			return cdkapp.NewRecordBucket(stack, jsii.String("Records"), &cdkapp.RecordBucketProps{Retention: awscdk.Duration_Days(jsii.Number(40))})
		},
		"table": func(stack awscdk.Stack) cdkapp.RecordStore {
			return cdkapp.NewRecordTable(stack, jsii.String("Records"), &cdkapp.RecordTableProps{Retention: awscdk.Duration_Days(jsii.Number(40))})
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := synth(t, func(stack awscdk.Stack) {
				cdkapp.NewFunctions(stack, jsii.String("Functions"), &cdkapp.FunctionsProps{
					Jobs:             jsii.Strings("http:Request", "dynamodb:ExportTableToPointInTime", "comprehend:StartEntitiesDetectionJob"),
					Resources:        &map[string]*[]*string{passRole: {}},
					HttpHosts:        jsii.Strings("api.example.com", "*.example.org"),
					Store:            newStore(stack),
					Collector:        new(name == "table"),
					MaxWait:          awscdk.Duration_Hours(jsii.Number(20)),
					LogLevel:         jsii.String("warn"),
					MetricsNamespace: jsii.String("none"),
				})
			})
			t.Setenv("AWS_REGION", region)
			t.Setenv("AWS_ACCESS_KEY_ID", "key")
			t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
			for _, f := range all.of("AWS::Lambda::Function") {
				for name, value := range f["Environment"].(map[string]any)["Variables"].(map[string]any) {
					text, ok := value.(string)
					if !ok {
						text = "records" // the name of a resource
					}
					if name == handler.EnvQueueURL {
						text = "https://sqs.eu-west-1.amazonaws.com/123456789012/waits"
					}
					t.Setenv(name, text)
				}
				p, err := handler.FromEnvironment(anystore.Open, builtin.Drivers()...)
				require.NoError(t, err)
				require.Equal(t, []string{"comprehend:StartEntitiesDetectionJob", "dynamodb:ExportTableToPointInTime", "http:Request"}, p.Jobs.Names())
				require.Equal(t, 40*24*time.Hour, p.Retention)
				require.Equal(t, 20*time.Hour, p.MaxWait)
				require.Nil(t, p.Metrics)
			}
		})
	}
}

// The table is what the store writes to.
//
//nolint:paralleltest // the tests share one process of Node.js
func TestE2ETableFitsItsRecords(t *testing.T) {
	all := synth(t, func(stack awscdk.Stack) { cdkapp.NewRecordTable(stack, jsii.String("Records"), nil) })
	tables := slices.Collect(maps.Values(all.of("AWS::DynamoDB::Table")))
	require.Len(t, tables, 1)
	keys := tables[0]["KeySchema"].([]any)
	require.Len(t, keys, 1)
	key := keys[0].(map[string]any)["AttributeName"].(string)
	expiry := tables[0]["TimeToLiveSpecification"].(map[string]any)["AttributeName"].(string)

	server, err := dynalite.Start(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	require.NoError(t, server.CreateTable(t.Context(), "records", key))
	client := server.Client(dynalite.ClientOptions{})
	store, err := dynamostore.New(client, "records", "jobpoller")
	require.NoError(t, err)
	expires := time.Date(2027, 1, 19, 9, 30, 14, 0, time.UTC)
	of := startrecord.Key{ExecutionARN: "arn:aws:states:eu-west-1:123456789012:execution:Nightly:run-1", Poller: "default"}
	_, err = store.Create(t.Context(), of, startrecord.Record{
		ExecutionStartTime: expires.AddDate(0, -2, 0), Status: startrecord.StatusStarting, Generation: 1,
		StartedAt: expires.AddDate(0, -2, 0), Token: strings.Repeat("a1", 18), RequestHash: "5f", Request: []byte(`{"job":"glue:StartJobRun"}`), ExpiresAt: expires,
	})
	require.NoError(t, err)
	found, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("records"),
		Key:       map[string]types.AttributeValue{key: &types.AttributeValueMemberS{Value: "jobpoller/" + of.Path()}},
	})
	require.NoError(t, err)
	require.Equal(t, &types.AttributeValueMemberN{Value: strconv.FormatInt(expires.Unix(), 10)}, found.Item[expiry])
}
