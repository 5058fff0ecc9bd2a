package cdkapp

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
)

// dashboardID is the construct ID of a stack's dashboard.
const dashboardID = "JobPollerDashboard"

// makeDashboard adds a section to the dashboard of the stack: what became of executions,
// how long they took, and what was throttled.
func (p *jobPoller) makeDashboard() {
	stack := awscdk.Stack_Of(p)
	made, ok := stack.Node().TryFindChild(new(dashboardID)).(awscloudwatch.Dashboard)
	if !ok {
		made = awscloudwatch.NewDashboard(stack, new(dashboardID), &awscloudwatch.DashboardProps{DefaultInterval: awscdk.Duration_Days(new(1.0))})
	}
	p.dashboard = made
	p.dashboard.AddWidgets(awscloudwatch.NewTextWidget(&awscloudwatch.TextWidgetProps{
		Markdown: new("## " + pathInStack(p)), Width: new(24.0), Height: new(1.0), Background: awscloudwatch.TextWidgetBackground_TRANSPARENT,
	}))
	p.dashboard.AddWidgets(
		graph("Executions", p.stateMachine.MetricStarted(nil), p.stateMachine.MetricSucceeded(nil), p.stateMachine.MetricFailed(nil),
			p.stateMachine.MetricTimedOut(nil), p.stateMachine.MetricAborted(nil)),
		graph("Time from start to end", p.stateMachine.MetricTime(statistic("p50")), p.stateMachine.MetricTime(statistic("p99"))),
		graph("Throttled transitions", p.stateMachine.MetricThrottled(nil)),
	)
	if len(p.invoked) == 0 {
		return
	}
	var invocations, errors, throttles []awscloudwatch.IMetric
	for _, f := range p.invoked {
		label := &awscloudwatch.MetricOptions{Label: &f.id}
		invocations = append(invocations, f.function.MetricInvocations(label))
		errors = append(errors, f.function.MetricErrors(label))
		throttles = append(throttles, f.function.MetricThrottles(label))
	}
	p.dashboard.AddWidgets(
		graph("Invocations", invocations...), graph("Errors (JobPoller.Running is one to Lambda)", errors...), graph("Throttles", throttles...),
	)
	for _, job := range p.machine.jobs {
		if p.functions.namespace() == "" {
			break
		}
		seconds := []awscloudwatch.IMetric{p.jobMetric(job, "JobSeconds", nil)}
		if saysEnd(job) {
			seconds = append(seconds, p.jobMetric(job, lateness, nil))
		}
		p.dashboard.AddWidgets(
			graph(job, p.jobMetric(job, "JobsStarted", nil), p.jobMetric(job, "JobsSucceeded", nil),
				p.jobMetric(job, "JobsFailed", nil), p.jobMetric(job, "JobsTimedOut", nil)),
			graph(job+": polls", p.jobMetric(job, "Checks", nil)),
			graph(job+": seconds", seconds...),
		)
	}
}

// lateness is the metric of how long the end of a job was unseen.
const lateness = "Lateness"

// jobMetric is one that the functions write for a job (package lambdas/handler).
func (p *jobPoller) jobMetric(job, name string, period awscdk.Duration) awscloudwatch.IMetric {
	statistic := "Sum"
	switch name {
	case "JobSeconds":
		statistic = "p90"
	case lateness:
		statistic = "Maximum"
	}
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: new(p.functions.namespace()), Period: period, MetricName: &name, Statistic: &statistic,
		DimensionsMap: &map[string]*string{"Deployment": new(p.functions.deployment()), "Job": &job},
	})
}

func statistic(name string) *awscloudwatch.MetricOptions {
	return &awscloudwatch.MetricOptions{Statistic: &name, Label: &name}
}

// graph is a third of the dashboard's width.
func graph(title string, metrics ...awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{Title: &title, Left: &metrics, Width: new(8.0)})
}
