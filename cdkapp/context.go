package cdkapp

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/statemachines"
)

// appContext reads the context of an app: what cdk -c gives, all of it as text,
// and what stands in cdk.json.
type appContext struct {
	path where
	all  map[string]any
}

// settings are what the context of an app asks for.
type settings struct {
	names         []string // of the definitions
	jobs          []string // of the functions; none if no definition needs them
	retired       *[]*string
	hosts         *[]*string
	resources     map[string]*map[string]*[]*string
	stackName     string
	store         string
	previousStore string
	level         awsstepfunctions.LogLevel
	alarmTopic    string
	removal       awscdk.RemovalPolicy
	remove        []string

	tracing, alarms, dashboard *bool
}

// readSettings reads the context of the app. It panics with an Error that has the
// problems of all keys.
func readSettings(scope constructs.Construct, id *string) *settings {
	all, _ := scope.Node().GetAllContext(nil).(map[string]any)
	c, s := &appContext{place(scope, id), all}, &settings{}
	checkAll(
		c.refuseMisspelt,
		func() {
			s.names = c.definitions()
			s.jobs = c.functionJobs(s.names)
			checkAll(func() {
				s.retired = c.readRetiredJobs(s.jobs)
				s.resources = c.resources(s.names, s.jobs, texts(s.retired))
			}, func() { s.hosts = c.hosts(s.jobs) }, func() { s.remove = c.readRemovals(s.names, len(s.jobs) > 0) })
		},
		func() { s.stackName = c.stackName() },
		func() { s.store, s.previousStore = c.stores() },
		func() { s.level = awsstepfunctions.LogLevel(c.oneOf(contextLogLevel, "ALL", "ERROR", "FATAL", "OFF")) },
		func() { s.tracing = c.flag(contextTracing) },
		func() {
			s.alarms = c.flag(contextAlarms)
			s.alarmTopic = c.alarmTopic(orElse(s.alarms, true))
		},
		func() { s.dashboard = c.flag(contextDashboard) },
		func() { s.removal = c.removal() },
	)
	return s
}

// refuseMisspelt refuses keys that are almost one of this app, which would deploy
// something else than was asked for. Other keys are the CDK's, or another stack's.
func (c *appContext) refuseMisspelt() {
	var checks []func()
	for _, key := range slices.Sorted(maps.Keys(c.all)) {
		if meant := nearest.DidYouMean(key, contextKeys); meant != "" && !slices.Contains(contextKeys, key) {
			checks = append(checks, func() { c.refuse(key, "there is no such key%s", meant) })
		}
	}
	checkAll(checks...)
}

// refuse panics with an Error.
func (c *appContext) refuse(key, format string, args ...any) {
	defer func() {
		e := recover().(*Error)
		e.Prop, e.Context = "", key
		panic(e)
	}()
	c.path.refuse(key, format, args...)
}

// text is a value that is given and is not empty.
func (c *appContext) text(key string) (string, bool) {
	switch value := c.all[key].(type) {
	case nil:
		return "", false
	case string:
		return value, value != ""
	default:
		c.refuse(key, "expected text, found %v", value)
		return "", false
	}
}

// list is text between commas, or a list in cdk.json, without empty items.
func (c *appContext) list(key string) []string {
	var all []string
	switch value := c.all[key].(type) {
	case nil:
	case string:
		all = strings.Split(value, ",")
	case []any:
		for _, item := range value {
			text, ok := item.(string)
			if !ok {
				c.refuse(key, "expected a list of texts, found %v in it", item)
			}
			all = append(all, text)
		}
	default:
		c.refuse(key, "expected names with commas between them, found %v", value)
	}
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return slices.DeleteFunc(all, func(item string) bool { return item == "" })
}

// flag is true or false; nil if it is not given.
func (c *appContext) flag(key string) *bool {
	switch value := c.all[key]; value {
	case nil:
		return nil
	case true, "true":
		return new(true)
	case false, "false":
		return new(false)
	default:
		c.refuse(key, "expected true or false, found %q", value)
		return nil
	}
}

// oneOf is one of the values; "" if it is not given.
func (c *appContext) oneOf(key string, values ...string) string {
	value, ok := c.text(key)
	if ok && !slices.Contains(values, value) {
		c.refuse(key, "expected one of %s, found %q%s", strings.Join(values, ", "), value, nearest.DidYouMean(value, values))
	}
	return value
}

func (c *appContext) removal() awscdk.RemovalPolicy {
	return map[string]awscdk.RemovalPolicy{
		"retain": awscdk.RemovalPolicy_RETAIN, "destroy": awscdk.RemovalPolicy_DESTROY,
	}[c.oneOf(contextRemoval, "retain", "destroy")]
}

// stackName is what the stack is called; "" if it is not given.
func (c *appContext) stackName() string {
	name, ok := c.text(contextStackName)
	if ok && !stackName.MatchString(name) {
		c.refuse(contextStackName, "expected up to 128 letters, digits and hyphens, and a letter first, found %q", name)
	}
	return name
}

// stores are the kinds of the store and of the one before; "" for none.
func (c *appContext) stores() (store, previous string) {
	checkAll(
		func() { store = cmp.Or(c.oneOf(contextStore, bucketStore, tableStore), bucketStore) },
		func() { previous = c.oneOf(contextPreviousStore, bucketStore, tableStore) },
	)
	if previous == store {
		c.refuse(contextPreviousStore, "it is the current %s: leave it out, or change %s", contextStore, contextStore)
	}
	return store, previous
}

// alarmTopic is the ARN of the topic that alarms notify; "" for none.
func (c *appContext) alarmTopic(alarms bool) string {
	arn, ok := c.text(contextAlarmTopic)
	switch {
	case !ok:
	case !alarms:
		c.refuse(contextAlarmTopic, "%s is false, so no alarm is sent: leave one of the two out", contextAlarms)
	case !topicARN.MatchString(arn):
		c.refuse(contextAlarmTopic, "expected the ARN of an SNS topic, found %q", arn)
	}
	return arn
}

// definitions are the names of the definitions, sorted.
func (c *appContext) definitions() []string {
	names := c.list(contextJobs)
	switch {
	case len(names) == 0 && c.all[contextJobs] != nil:
		c.refuse(contextJobs, "it is empty: leave it out for %s, or name some of %s, or %q",
			strings.Join(defaultJobs, ","), strings.Join(statemachines.Names(), ", "), allJobs)
	case len(names) == 0:
		names = slices.Clone(defaultJobs)
	case slices.Equal(names, []string{allJobs}):
		return statemachines.Names()
	case slices.Contains(names, allJobs):
		c.refuse(contextJobs, "%q stands for all definitions: leave the others out, or %q", allJobs, allJobs)
	}
	for _, name := range names {
		if !slices.Contains(statemachines.Names(), name) {
			c.refuse(contextJobs, "there is no shipped definition %q%s; there are %s, and %q for all of them",
				name, nearest.DidYouMean(name, statemachines.Names()), strings.Join(statemachines.Names(), ", "), allJobs)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// functionJobs are the jobs that the functions run; none if no definition needs
// them.
func (c *appContext) functionJobs(definitions []string) []string {
	var jobs []string
	var open, named bool // a definition lets its input name the job, or names it
	for _, name := range definitions {
		job, ok := jobsOfFunctions[name]
		switch {
		case ok && job == "":
			open = true
		case ok:
			named = true
			jobs = append(jobs, job)
		}
	}
	given := c.list(contextFunctionJobs)
	switch {
	case len(given) > 0 && !open:
		c.refuse(contextFunctionJobs, "it is only for lambda-loop and lambda-loop-count, whose input names the job: "+
			"add one of them to %s, or leave it out", contextJobs)
	case open && len(given) == 0:
		given = []string{sampleJob}
	case !open && !named:
		c.refuseOfFunctions()
	}
	jobs = append(jobs, given...)
	slices.Sort(jobs)
	jobs = slices.Compact(jobs)
	for _, job := range jobs {
		if _, err := permissionsOf(job, nil); err != nil {
			c.refuse(contextFunctionJobs, "%v", err)
		}
	}
	return jobs
}

// refuseOfFunctions refuses keys that are about the functions, where there are none.
func (c *appContext) refuseOfFunctions() {
	var checks []func()
	for _, key := range []string{contextStore, contextPreviousStore, contextRetiredJobs, contextHTTPHosts} {
		if c.all[key] != nil {
			checks = append(checks, func() {
				c.refuse(key, "it is only for the Lambda functions, and no definition invokes them: leave it out, or add lambda-loop to %s", contextJobs)
			})
		}
	}
	checkAll(checks...)
}

// readRetiredJobs are jobs that the functions start no more; nil if there are none.
func (c *appContext) readRetiredJobs(jobs []string) *[]*string {
	retired := c.list(contextRetiredJobs)
	for _, job := range retired {
		if slices.Contains(jobs, job) {
			c.refuse(contextRetiredJobs, "the functions already start %s, because of %s or a definition: leave it out of one of the two", job, contextFunctionJobs)
		}
	}
	return pointers(retired)
}

// readRemovals are the definitions that the next deployment may leave out, and "functions".
func (c *appContext) readRemovals(definitions []string, functions bool) []string {
	names, known := c.list(contextRemove), slices.Clone(definitions)
	if functions {
		known = append(known, theFunctions)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			c.refuse(contextRemove, "this command does not deploy %q%s: keep it in %s this time, and leave it out next time; there are %s",
				name, nearest.DidYouMean(name, known), contextJobs, strings.Join(known, ", "))
		}
	}
	return names
}

// hosts are the HTTP hosts that the functions may call.
func (c *appContext) hosts(jobs []string) *[]*string {
	if len(jobs) == 0 {
		return nil
	}
	hosts := c.list(contextHTTPHosts)
	switch asks := slices.Contains(jobs, httpJob); {
	case asks && len(hosts) == 0:
		c.refuse(contextHTTPHosts, "the job %s needs it: name the hosts that it may call, such as %q", httpJob, "api.example.com")
	case !asks && len(hosts) > 0:
		c.refuse(contextHTTPHosts, "it is only for the job %s: add that to %s, or leave it out", httpJob, contextFunctionJobs)
	case !asks:
		return nil
	}
	return pointers(hosts)
}

// resources are the ARNs that narrow what the definitions and the functions may
// do, as JobPollerProps.Resources has them. The key of each is the name of the
// definition, or "functions", and the action:
//
//	-c rds-snapshot-export:iam:PassRole=arn:aws:iam::123456789012:role/export
func (c *appContext) resources(definitions, jobs, retired []string) map[string]*map[string]*[]*string {
	actions := map[string][]string{}
	for _, name := range definitions {
		if _, ok := jobsOfFunctions[name]; ok {
			continue
		}
		found, err := actionsOfDefinition(name)
		if err != nil {
			c.refuse(contextJobs, "%v", err)
		}
		actions[name] = found
	}
	if functions := c.functionActions(jobs, retired); functions != nil {
		actions[theFunctions] = functions
	}
	narrowed := map[string]*map[string]*[]*string{}
	var checks []func()
	for _, key := range slices.Sorted(maps.Keys(c.all)) {
		owner, action, ok := strings.Cut(key, ":")
		switch {
		case !ok:
		case actions[owner] == nil:
			checks = append(checks, func() { c.notNarrowed(key, owner, slices.Sorted(maps.Keys(actions))) })
		default:
			checks = append(checks, func() {
				arns := c.narrow(key, owner, action, actions[owner])
				if narrowed[owner] == nil {
					narrowed[owner] = &map[string]*[]*string{}
				}
				(*narrowed[owner])[action] = pointers(arns)
			})
		}
	}
	checkAll(append(checks, func() { c.requireRoles(actions) })...)
	return narrowed
}

// narrow returns the ARNs that the key names for the action, which must be needed.
func (c *appContext) narrow(key, owner, action string, needed []string) []string {
	if !slices.Contains(needed, action) {
		c.refuse(key, "%s: the action %q is not needed%s; these are: %s",
			owner, action, nearest.DidYouMean(action, needed), strings.Join(needed, ", "))
	}
	arns := c.list(key)
	if i := slices.IndexFunc(arns, func(arn string) bool { return !isResource(arn) }); i >= 0 {
		c.refuse(key, "expected ARNs, found %q", arns[i])
	}
	return arns
}

// functionActions are the IAM actions that the jobs of the functions need, also those
// that are retired; nil if no definition needs the functions.
func (c *appContext) functionActions(jobs, retired []string) []string {
	if len(jobs) == 0 {
		return nil
	}
	needed := map[string]bool{}
	of := func(key, job string) permissions {
		p, err := permissionsOf(job, nil)
		if err != nil {
			c.refuse(key, "%v", err)
		}
		return p
	}
	for _, job := range jobs {
		p := of(contextFunctionJobs, job)
		for _, each := range slices.Concat(p.runJob, p.checkStatus) {
			needed[each.action] = true
		}
	}
	for _, job := range retired {
		for _, each := range of(contextRetiredJobs, job).checkStatus {
			needed[each.action] = true
		}
	}
	return slices.Sorted(maps.Keys(needed))
}

// requireRoles refuses to let jobs hand any role of the account to their services.
// The key of each is the name of the definition, or "functions".
func (c *appContext) requireRoles(actions map[string][]string) {
	var missing []string
	for _, owner := range slices.Sorted(maps.Keys(actions)) {
		key := owner + ":" + passRole
		if _, ok := c.all[key]; !ok && slices.Contains(actions[owner], passRole) {
			missing = append(missing, key)
		}
	}
	if len(missing) == 0 {
		return
	}
	who, also := strings.TrimSuffix(missing[0], ":"+passRole), ""
	if who == theFunctions {
		who = "a job of the functions"
	}
	if len(missing) > 1 {
		also = "; also missing: " + strings.Join(missing[1:], ", ")
	}
	c.refuse(missing[0], "%s passes a role to its service, and could pass any role of the account: "+
		"add -c %s=<its ARN>, several with commas between them, or nothing after the = if the job passes none%s", who, missing[0], also)
}

// notNarrowed refuses a key that was meant for a definition. Other keys are the
// CDK's.
func (c *appContext) notNarrowed(key, owner string, owners []string) {
	_, throughFunctions := jobsOfFunctions[owner]
	switch known := append(statemachines.Names(), theFunctions); {
	case throughFunctions:
		c.refuse(key, "%s calls only the functions, which have their own roles: write %s instead", owner, theFunctions+strings.TrimPrefix(key, owner))
	case slices.Contains(known, owner):
		c.refuse(key, "%s is not deployed: add it to %s, which has %s, or leave this out", owner, contextJobs, strings.Join(owners, ", "))
	case nearest.Word(owner, known) != "":
		c.refuse(key, "there is no shipped definition %q%s", owner, nearest.DidYouMean(owner, known))
	}
}
