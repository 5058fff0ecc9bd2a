package cdkapp

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
)

// makeDashboard makes a dashboard: what became of executions, how long they took,
// and what was throttled.
func (p *jobPoller) makeDashboard() {
	p.dashboard = awscloudwatch.NewDashboard(p, new("Dashboard"), &awscloudwatch.DashboardProps{
		DefaultInterval: awscdk.Duration_Days(new(1.0)),
	})
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
		p.dashboard.AddWidgets(
			graph(job, p.jobMetric(job, "JobsStarted", nil), p.jobMetric(job, "JobsSucceeded", nil),
				p.jobMetric(job, "JobsFailed", nil), p.jobMetric(job, "JobsTimedOut", nil)),
			graph(job+": polls", p.jobMetric(job, "Checks", nil)),
			graph(job+": seconds", p.jobMetric(job, "JobSeconds", nil)),
		)
	}
}

// jobMetric is one that the functions write for a job (package lambdas/handler).
func (p *jobPoller) jobMetric(job, name string, period awscdk.Duration) awscloudwatch.IMetric {
	statistic := "Sum"
	if name == "JobSeconds" {
		statistic = "p90"
	}
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: new(p.functions.namespace()), Period: period, MetricName: &name, Statistic: &statistic, DimensionsMap: &map[string]*string{"Job": &job},
	})
}

func statistic(name string) *awscloudwatch.MetricOptions {
	return &awscloudwatch.MetricOptions{Statistic: &name, Label: &name}
}

// graph is a third of the dashboard's width.
func graph(title string, metrics ...awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{Title: &title, Left: &metrics, Width: new(8.0)})
}
