//go:build e2e

package cdkapp_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
)

// All problems of the props are told at once.
func TestE2EAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		props func() *cdkapp.JobPollerProps // in the stack
		want  []string
	}{
		"one": {func() *cdkapp.JobPollerProps {
			return &cdkapp.JobPollerProps{Job: fromCatalog("dynamodb:ExportCompleted")}
		}, []string{"MaxWait"}},
		"of the machine and of the wait": {func() *cdkapp.JobPollerProps {
			return &cdkapp.JobPollerProps{
				Job: fromCatalog("dynamodb:ExportCompleted"), StateMachineProps: &awsstepfunctions.StateMachineProps{StateMachineType: "EXPRESS"}, Alarms: new(false), AlarmActions: &[]awscloudwatch.IAlarmAction{},
				Strategy: "often", MinDelay: awscdk.Duration_Millis(new(1.0)), Events: new(0.5),
			}
		}, []string{"StateMachineProps.StateMachineType", "AlarmActions", "Strategy", "MinDelay", "MaxWait", "Events"}},
		"beside no job": {func() *cdkapp.JobPollerProps {
			return &cdkapp.JobPollerProps{MaxDelay: awscdk.Duration_Millis(new(1.0))}
		}, []string{"Job", "MaxDelay", "MaxWait"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := problem(t, func(stack awscdk.Stack) { cdkapp.NewJobPoller(stack, new("Poller"), tt.props()) })
			found := []string{p.Prop}
			for _, other := range p.Others {
				require.Empty(t, other.Others)
				found = append(found, other.Prop)
			}
			require.Equal(t, tt.want, found)
			require.Len(t, strings.Split(p.Error(), "\n"), len(tt.want))
		})
	}
}
