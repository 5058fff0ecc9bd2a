package cdkapp

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// alarmPeriod is what the alarms look at, in minutes.
const alarmPeriod = 5.0

// makeAlarms makes the alarms on the state machine and its functions.
func (p *jobPoller) makeAlarms(actions *[]awscloudwatch.IAlarmAction) {
	options := &awscloudwatch.MetricOptions{Period: awscdk.Duration_Minutes(new(alarmPeriod))}
	for _, a := range []struct {
		id, description string
		metric          awscloudwatch.Metric
	}{
		{"ExecutionsFailed", "An execution failed: the job failed, did not end in time, or could not be described", p.stateMachine.MetricFailed(options)},
		{"ExecutionsTimedOut", "An execution reached the time limit of its definition", p.stateMachine.MetricTimedOut(options)},
		{"ExecutionThrottled", "Step Functions throttled state transitions: polls come late", p.stateMachine.MetricThrottled(options)},
	} {
		p.alarms = append(p.alarms, alarm(p, a.id, a.description, a.metric, 1))
	}
	p.alarmFunctions(options)
	if p.machine.waitsForCallback {
		p.functions.alarmCollector(p.alarmScope(), options, p.watch)
	}
	p.alarmJobs()
	for _, action := range orElse(actions, nil) {
		for _, alarm := range p.alarms {
			alarm.AddAlarmAction(action)
		}
		for _, alarm := range p.shared {
			if !does(alarm, action) {
				alarm.AddAlarmAction(action)
			}
		}
	}
}

// does tells whether the alarm of another poller has the action already.
func does(alarm awscloudwatch.Alarm, action awscloudwatch.IAlarmAction) bool {
	of, ok := alarm.Node().DefaultChild().(awscloudwatch.CfnAlarm)
	if !ok {
		return false
	}
	stack := awscdk.Stack_Of(alarm)
	has, _ := stack.Resolve(of.AlarmActions()).([]any)
	wants := stack.Resolve(action.Bind(alarm, alarm).AlarmActionArn)
	return slices.ContainsFunc(has, func(one any) bool { return reflect.DeepEqual(one, wants) })
}

// watch makes an alarm in a scope; [jobPoller.watch] is one.
type watch func(scope constructs.Construct, id, description string, metric awscloudwatch.IMetric, threshold float64)

// watch makes an alarm, or finds that of another poller.
func (p *jobPoller) watch(scope constructs.Construct, id, description string, metric awscloudwatch.IMetric, threshold float64) {
	if made, ok := scope.Node().TryFindChild(&id).(awscloudwatch.Alarm); ok {
		p.shared = append(p.shared, made)
		return
	}
	p.alarms = append(p.alarms, alarm(scope, id, description, metric, threshold))
}

// enoughErrors is one more than a state tries again: from there on the function
// fails for good, or for several executions.
const enoughErrors = 7

// alarmFunctions makes the alarms on the functions, once for all pollers that
// share them in one stack. Those on functions of another stack are of this one: the
// other cannot refer to alarm actions of this one, which refers to it.
func (p *jobPoller) alarmFunctions(options *awscloudwatch.MetricOptions) {
	for _, f := range p.invoked {
		scope := f.alarms
		if !sameStack(scope, p) {
			scope = p
		}
		throttles, errors := f.id+"Throttles", f.id+"Errors"
		p.watch(scope, throttles, "Lambda throttled "+f.id+": polls come late, and fail in the end", f.function.MetricThrottles(options), 1)
		if f.failing {
			p.watch(scope, errors, f.id+" fails more often than its states try again", f.function.MetricErrors(options), enoughErrors)
		}
	}
}

// alarmJobs makes the alarms on what the functions say of the jobs, once for all pollers
// that share them in one stack.
func (p *jobPoller) alarmJobs() {
	if p.functions == nil || p.functions.namespace() == "" {
		return
	}
	scope := p.alarmScope()
	for _, job := range p.machine.jobs {
		for _, a := range []struct{ metric, description string }{
			{"StartsUnknown", "It is not known whether a start call started a job of " + job +
				", or one has started without a start record: see JobPoller.JobStartUnknown, and ERROR in the log of run-job"},
			{"JobsTimedOut", "A job of " + job + " did not end in time"},
		} {
			id := a.metric + "-" + strings.ReplaceAll(job, ":", "-")
			p.watch(scope, id, a.description, p.jobMetric(job, a.metric, awscdk.Duration_Minutes(new(alarmPeriod))), 1)
		}
		p.alarmLateness(scope, job)
	}
}

// latenessMargin is what a poll takes besides its delay: a call, its retries, and
// Step Functions itself.
const latenessMargin = 5 * time.Minute

// alarmLateness makes the alarm on ends that are seen later than any delay between
// polls explains, for a job whose description says when it ended. Of pollers that share
// it, the longest delay counts.
func (p *jobPoller) alarmLateness(scope constructs.Construct, job string) {
	delay, known := p.machine.delays[job]
	if !known || !saysEnd(job) {
		return
	}
	id, threshold := "Lateness-"+strings.ReplaceAll(job, ":", "-"), (delay + latenessMargin).Seconds()
	if made, ok := scope.Node().TryFindChild(&id).(awscloudwatch.Alarm); ok {
		if of, ok := made.Node().DefaultChild().(awscloudwatch.CfnAlarm); ok {
			of.SetThreshold(new(max(threshold, *of.Threshold())))
		}
	}
	p.watch(scope, id, "The end of a job of "+job+" was seen later than the delay between polls explains",
		p.jobMetric(job, lateness, awscdk.Duration_Minutes(new(alarmPeriod))), threshold)
}

// saysEnd tells whether the functions know when a job ended.
func saysEnd(job string) bool {
	service, name, _ := strings.Cut(job, ":")
	e, err := catalog.Lookup(service, name)
	return err == nil && e.Job != nil && e.Job.EndTime != ""
}

// alarmScope has the alarms on the functions as a whole.
func (p *jobPoller) alarmScope() constructs.Construct {
	if sameStack(p.functions, p) {
		return p.functions
	}
	return p
}

// alarm goes off where the metric in a period reaches the threshold.
func alarm(scope constructs.Construct, id, description string, metric awscloudwatch.IMetric, threshold float64) awscloudwatch.Alarm {
	return awscloudwatch.NewAlarm(scope, &id, &awscloudwatch.AlarmProps{
		AlarmDescription:   &description,
		Metric:             metric,
		Threshold:          &threshold,
		EvaluationPeriods:  new(1.0),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
	})
}
