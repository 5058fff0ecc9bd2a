package compile

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines"
)

// recipe is a definition as this package knows it: a job that is started,
// waited for, and stopped when its time is over, if it can be.
type recipe struct {
	service, name    string // of the entry of the catalogue
	strategy         Strategy
	maxWait, initial time.Duration
	// polls are the arguments of a poll without a start call, which are also in
	// its output.
	polls map[string]any
}

// settles is how long a service may need to know of what it has just started.
const settles = 30 * time.Second

// recipes are the definitions that are compiled. The two besides are loops around
// the pair of Lambda functions: lambda-loop has the start time of the job in its
// start record, lambda-loop-count counts the checks.
var recipes = map[string]recipe{
	"lambda-retry": {service: "dynamodb", name: "ExportTableToPointInTime", strategy: LambdaRetry, maxWait: 2 * time.Hour},
	"dynamodb-export-poll": {
		service: "dynamodb", name: "ExportCompleted", strategy: Loop, maxWait: time.Hour,
		polls: map[string]any{"ExportArn.$": "$.ExportDescription.ExportArn"},
	},
	"dynamodb-export-loop":        {service: "dynamodb", name: "ExportTableToPointInTime", strategy: Loop, maxWait: 2 * time.Hour},
	"dynamodb-export-variables":   {service: "dynamodb", name: "ExportTableToPointInTime", strategy: Variables, maxWait: 2 * time.Hour},
	"dynamodb-export-retry-task":  {service: "dynamodb", name: "ExportTableToPointInTime", strategy: RetryTask, maxWait: 2 * time.Hour},
	"redshift-data-statement":     {service: "redshift-data", name: "ExecuteStatement", strategy: Variables, maxWait: time.Hour},
	"transcribe-job":              {service: "transcribe", name: "StartTranscriptionJob", strategy: Variables, maxWait: 4 * time.Hour},
	"rds-snapshot-export":         {service: "rds", name: "StartExportTask", strategy: Variables, maxWait: 12 * time.Hour},
	"textract-document-analysis":  {service: "textract", name: "StartDocumentAnalysis", strategy: Variables, maxWait: time.Hour},
	"cloudformation-stack":        {service: "cloudformation", name: "CreateStack", strategy: Variables, maxWait: 2 * time.Hour},
	"ec2-image":                   {service: "ec2", name: "CreateImage", strategy: Variables, maxWait: 6 * time.Hour, initial: settles},
	"glue-crawler":                {service: "glue", name: "StartCrawler", strategy: Variables, maxWait: 4 * time.Hour, initial: settles},
	"rekognition-label-detection": {service: "rekognition", name: "StartLabelDetection", strategy: Variables, maxWait: 2 * time.Hour},
	"comprehend-entities":         {service: "comprehend", name: "StartEntitiesDetectionJob", strategy: Variables, maxWait: 4 * time.Hour},
	"bedrock-model-invocation":    {service: "bedrock", name: "CreateModelInvocationJob", strategy: Variables, maxWait: 24 * time.Hour},
}

// RecipeNames returns the names of the shipped definitions that Compile makes, the
// others being written by hand.
func RecipeNames() []string { return slices.Sorted(maps.Keys(recipes)) }

// Recipe compiles a shipped definition anew.
func Recipe(name string) (*Compiled, error) {
	r, ok := recipes[name]
	if !ok {
		return nil, fmt.Errorf("%w: %q", statemachines.ErrNoDefinition, name)
	}
	e, err := catalog.Lookup(r.service, r.name)
	if err != nil {
		return nil, err
	}
	call := CallOf(e)
	if r.polls != nil {
		call = Call{Operation: e.Operation, Arguments: r.polls, SelfFeeding: true}
	}
	// A redrive has new time and the same history, which has to hold both.
	return Compile(e.Waiter, call, Options{Strategy: r.strategy, MaxWait: r.maxWait, InitialDelay: r.initial, Events: DefaultEvents / 2, Fit: true})
}
