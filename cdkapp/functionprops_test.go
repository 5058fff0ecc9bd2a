//go:build e2e

package cdkapp_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscodeguruprofiler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsefs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdadestinations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
)

// field is how a test gives a field of props of the CDK, and where its value stands then.
type field struct {
	value  func(awscdk.Stack) any
	kind   string // the type of the resource
	exists string // a part of the properties of one, as JSON
}

func given(value any, kind, exists string) field {
	return field{func(awscdk.Stack) any { return value }, kind, exists}
}

// requireEveryField tells that fields of the type are in one of the lists, so that one
// which a new CDK brings is seen.
func requireEveryField[V any](t *testing.T, of reflect.Type, passed map[string]field, refused map[string]V) {
	t.Helper()
	known := slices.Collect(maps.Keys(passed))
	for name := range refused {
		known = append(known, name)
	}
	var all []string
	for f := range of.Fields() {
		all = append(all, f.Name)
	}
	require.ElementsMatch(t, all, known, "say of each whether it is passed on, or refused")
}

// set gives a field of the props a value.
func set(props any, name string, value any) {
	reflect.ValueOf(props).Elem().FieldByName(name).Set(reflect.ValueOf(value))
}

// propsOf returns the names of the props that an Error is about.
func propsOf(e *cdkapp.Error) []string {
	all := []string{e.Prop}
	for _, other := range e.Others {
		all = append(all, other.Prop)
	}
	return all
}

// refusedFunctionProps are the fields of awslambda.FunctionProps that cannot be passed on.
var refusedFunctionProps = map[string]func(awscdk.Stack) any{
	"Code":                     func(awscdk.Stack) any { return awslambda.Code_FromInline(new("x")) },
	"Handler":                  func(awscdk.Stack) any { return new("x") },
	"Runtime":                  func(awscdk.Stack) any { return awslambda.Runtime_PROVIDED_AL2() },
	"ApplicationLogLevel":      func(awscdk.Stack) any { return new("INFO") },
	"ApplicationLogLevelV2":    func(awscdk.Stack) any { return awslambda.ApplicationLogLevel_INFO },
	"LogFormat":                func(awscdk.Stack) any { return new("Text") },
	"LoggingFormat":            func(awscdk.Stack) any { return awslambda.LoggingFormat_TEXT },
	"LogRemovalPolicy":         func(awscdk.Stack) any { return awscdk.RemovalPolicy_RETAIN },
	"LogRetention":             func(awscdk.Stack) any { return awslogs.RetentionDays_ONE_DAY },
	"LogRetentionRole":         func(stack awscdk.Stack) any { return newRole(stack) },
	"LogRetentionRetryOptions": func(awscdk.Stack) any { return &awslambda.LogRetentionRetryOptions{} },
	"Tracing":                  func(awscdk.Stack) any { return awslambda.Tracing_ACTIVE },
	"InitialPolicy":            func(awscdk.Stack) any { return &[]awsiam.PolicyStatement{} },
	"Events":                   func(awscdk.Stack) any { return &[]awslambda.IEventSource{} },
	"DurableConfig":            func(awscdk.Stack) any { return &awslambda.DurableConfig{} },
	"TenancyConfig":            func(awscdk.Stack) any { return awslambda.TenancyConfig_PER_TENANT() },
	"SnapStart":                func(awscdk.Stack) any { return awslambda.SnapStartConf_ON_PUBLISHED_VERSIONS() },
	"Profiling":                func(awscdk.Stack) any { return new(true) },
	"ProfilingGroup": func(stack awscdk.Stack) any {
		return awscodeguruprofiler.NewProfilingGroup(stack, new("Profiles"), nil)
	},
}

const (
	functionKind = "AWS::Lambda::Function"
	invokeKind   = "AWS::Lambda::EventInvokeConfig"
)

// passedFunctionProps are all others.
var passedFunctionProps = map[string]field{
	"MaxEventAge": {func(awscdk.Stack) any { return seconds(90) }, invokeKind, `"MaximumEventAgeInSeconds":90`},
	"OnFailure": {func(stack awscdk.Stack) any {
		return awslambdadestinations.NewSqsDestination(newQueue(stack, "Failed"))
	}, invokeKind, `"OnFailure":{"Destination":`},
	"OnSuccess":     {func(stack awscdk.Stack) any { return awslambdadestinations.NewSqsDestination(newQueue(stack, "Done")) }, invokeKind, `"OnSuccess":{"Destination":`},
	"RetryAttempts": given(new(1.0), invokeKind, `"MaximumRetryAttempts":1`),
	"AdotInstrumentation": {func(awscdk.Stack) any {
		return &awslambda.AdotInstrumentationConfig{
			ExecWrapper:  awslambda.AdotLambdaExecWrapper_REGULAR_HANDLER,
			LayerVersion: awslambda.AdotLayerVersion_FromGenericLayerVersion(awslambda.AdotLambdaLayerGenericVersion_LATEST()),
		}
	}, functionKind, `"AWS_LAMBDA_EXEC_WRAPPER":"/opt/otel-handler"`},
	"AllowAllIpv6Outbound": given(new(true), "AWS::EC2::SecurityGroup", `"CidrIpv6":"::/0"`),
	"AllowAllOutbound":     given(new(false), "AWS::EC2::SecurityGroup", `"Disallow all traffic"`),
	"AllowPublicSubnet":    given(new(true), functionKind, `"SubnetIds":["subnet-0a1b2c3d4e5f60720"]`),
	"Architecture":         {func(awscdk.Stack) any { return awslambda.Architecture_X86_64() }, functionKind, `"Architectures":["x86_64"]`},
	"CodeSigningConfig": {func(stack awscdk.Stack) any {
		return awslambda.CodeSigningConfig_FromCodeSigningConfigArn(stack, new("Signing"), new("arn:aws:lambda:us-east-1:123456789012:code-signing-config:csc-1"))
	}, functionKind, `"CodeSigningConfigArn":"arn:aws:lambda:us-east-1:123456789012:code-signing-config:csc-1"`},
	"CurrentVersionOptions":  given(&awslambda.VersionOptions{Description: new("third")}, "AWS::Lambda::Version", `"Description":"third"`),
	"DeadLetterQueue":        {func(stack awscdk.Stack) any { return newQueue(stack, "Dead") }, functionKind, `"DeadLetterConfig":{"TargetArn":{"Fn::GetAtt":["Dead`},
	"DeadLetterQueueEnabled": given(new(true), functionKind, `"DeadLetterConfig":{"TargetArn":`),
	"DeadLetterTopic":        {func(stack awscdk.Stack) any { return awssns.NewTopic(stack, new("DeadTopic"), nil) }, functionKind, `"DeadLetterConfig":{"TargetArn":{"Ref":"DeadTopic`},
	"Description":            given(new("of the platform"), functionKind, `"Description":"of the platform"`),
	"Environment":            given(&map[string]*string{"PALETTE": new("warm")}, functionKind, `"PALETTE":"warm"`),
	"EnvironmentEncryption":  {func(stack awscdk.Stack) any { return awskms.NewKey(stack, new("VariableKey"), nil) }, functionKind, `"KmsKeyArn":{"Fn::GetAtt":["VariableKey`},
	"EphemeralStorageSize":   {func(awscdk.Stack) any { return awscdk.Size_Mebibytes(new(1024.0)) }, functionKind, `"EphemeralStorage":{"Size":1024}`},
	"Filesystem": {func(stack awscdk.Stack) any {
		files := awsefs.FileSystem_FromFileSystemAttributes(stack, new("Files"), &awsefs.FileSystemAttributes{
			FileSystemId: new("fs-1"), SecurityGroup: awsec2.SecurityGroup_FromSecurityGroupId(stack, new("FilesGroup"), new("sg-0a1b2c3d4e5f60719"), nil),
		})
		point := awsefs.AccessPoint_FromAccessPointAttributes(stack, new("Point"), &awsefs.AccessPointAttributes{AccessPointId: new("fsap-1"), FileSystem: files})
		return awslambda.FileSystem_FromEfsAccessPoint(point, new("/mnt/data"))
	}, functionKind, `"LocalMountPath":"/mnt/data"`},
	"FunctionName": given(new("orders"), functionKind, `"FunctionName":"orders-run-job"`),
	"InsightsVersion": {func(awscdk.Stack) any {
		return awslambda.LambdaInsightsVersion_FromInsightVersionArn(new("arn:aws:lambda:us-east-1:580247275435:layer:LambdaInsightsExtension:60"))
	}, functionKind, `LambdaInsightsExtension:60"`},
	"Ipv6AllowedForDualStack": given(new(true), functionKind, `"Ipv6AllowedForDualStack":true`),
	"Layers": {func(stack awscdk.Stack) any {
		return &[]awslambda.ILayerVersion{awslambda.LayerVersion_FromLayerVersionArn(stack, new("Layer"), new("arn:aws:lambda:us-east-1:123456789012:layer:agent:7"))}
	}, functionKind, `"Layers":["arn:aws:lambda:us-east-1:123456789012:layer:agent:7"]`},
	"LogGroup":   {func(stack awscdk.Stack) any { return awslogs.NewLogGroup(stack, new("OwnLog"), nil) }, functionKind, `"LogGroup":{"Ref":"OwnLog`},
	"MemorySize": given(new(512.0), functionKind, `"MemorySize":512`),
	"ParamsAndSecrets": {func(awscdk.Stack) any {
		return awslambda.ParamsAndSecretsLayerVersion_FromVersionArn(new("arn:aws:lambda:us-east-1:177933569100:layer:AWS-Parameters-and-Secrets-Lambda-Extension:4"), nil)
	}, functionKind, `Secrets-Lambda-Extension:4"`},
	"RecursiveLoop":                given(awslambda.RecursiveLoop_ALLOW, functionKind, `"RecursiveLoop":"Allow"`),
	"ReservedConcurrentExecutions": given(new(5.0), functionKind, `"ReservedConcurrentExecutions":5`),
	"Role":                         {func(stack awscdk.Stack) any { return newRole(stack) }, functionKind, `"Role":{"Fn::GetAtt":["Role`},
	"RuntimeManagementMode":        {func(awscdk.Stack) any { return awslambda.RuntimeManagementMode_FUNCTION_UPDATE() }, functionKind, `"UpdateRuntimeOn":"FunctionUpdate"`},
	"SecurityGroups": {func(stack awscdk.Stack) any {
		return &[]awsec2.ISecurityGroup{awsec2.SecurityGroup_FromSecurityGroupId(stack, new("Group"), new("sg-0a1b2c3d4e5f60718"), nil)}
	}, functionKind, `"SecurityGroupIds":["sg-0a1b2c3d4e5f60718"]`},
	"SystemLogLevel":   given(new("WARN"), functionKind, `"SystemLogLevel":"WARN"`),
	"SystemLogLevelV2": given(awslambda.SystemLogLevel_DEBUG, functionKind, `"SystemLogLevel":"DEBUG"`),
	"Timeout":          {func(awscdk.Stack) any { return seconds(50) }, functionKind, `"Timeout":50`},
	"Vpc":              {func(stack awscdk.Stack) any { return newVPC(stack) }, functionKind, `"SubnetIds":["subnet-0a1b2c3d4e5f60718"]`},
	"VpcSubnets":       given(&awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_ISOLATED}, functionKind, `"SubnetIds":["subnet-0a1b2c3d4e5f60719"]`),
}

// inVPC are fields that the CDK takes only beside a VPC.
var inVPC = []string{"AllowAllIpv6Outbound", "AllowAllOutbound", "AllowPublicSubnet", "Filesystem", "Ipv6AllowedForDualStack", "SecurityGroups", "VpcSubnets"}

// Each field of awslambda.FunctionProps reaches the functions, or is refused.
func TestE2EEveryFieldOfFunctionProps(t *testing.T) {
	t.Parallel()
	requireEveryField(t, reflect.TypeFor[awslambda.FunctionProps](), passedFunctionProps, refusedFunctionProps)
	inStack(t, func(stack awscdk.Stack) {
		vpc, store := newVPC(stack), cdkapp.NewRecordTable(stack, new("Table"), nil)
		code := codeFolder(t)
		for name, field := range passedFunctionProps {
			var props awslambda.FunctionProps
			if slices.Contains(inVPC, name) {
				props.Vpc = vpc
			}
			if name == "AllowPublicSubnet" { // without it the CDK refuses these
				props.VpcSubnets = &awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PUBLIC}
			}
			of := awscdk.NewNestedStack(stack, new("With"+name), nil)
			set(&props, name, field.value(of))
			cdkapp.NewFunctions(of, new("Poller"), &cdkapp.FunctionsProps{
				Jobs: jsii.Strings("glue:StartJobRun"), Store: store, CodeFolder: code, FunctionProps: &props,
			})
		}
		for name, field := range passedFunctionProps {
			all := template(*assertions.Template_FromStack(stack.Node().FindChild(new("With"+name)).(awscdk.Stack), nil).ToJSON())
			var found []string
			for _, r := range all.of(field.kind) {
				found = append(found, asJSON(t, r.properties))
			}
			require.Contains(t, strings.Join(found, "\n"), field.exists, name)
		}
	})
	e := problem(t, func(stack awscdk.Stack) {
		var props awslambda.FunctionProps
		for name, value := range refusedFunctionProps {
			set(&props, name, value(stack))
		}
		newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: jsii.Strings("glue:StartJobRun"), FunctionProps: &props})
	})
	var want []string
	for name := range refusedFunctionProps {
		want = append(want, "FunctionProps."+name)
	}
	require.ElementsMatch(t, want, propsOf(e))
}

// In a VPC, with a key for the variables, the functions get what Lambda needs for them.
func TestE2EFunctionsInAVPC(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: jsii.Strings("glue:StartJobRun"), FunctionProps: &awslambda.FunctionProps{
			Vpc: newVPC(stack), FunctionName: new("orders"), EnvironmentEncryption: awskms.NewKey(stack, new("Key"), nil),
		}})
	})
	require.Equal(t, "orders-run-job", all.named(t, functionKind, "PollerRunJob").properties["FunctionName"])
	require.Equal(t, "orders-check-status", all.named(t, functionKind, "PollerCheckStatus").properties["FunctionName"])
	key := `{"Fn::GetAtt":["` + all.only(t, "AWS::KMS::Key").id + `","Arn"]}`
	for _, role := range []string{"PollerRunJobRole", "PollerCheckStatusRole"} {
		may := allowed(t, all, role)
		for _, action := range []string{"AssignPrivateIpAddresses", "CreateNetworkInterface", "DeleteNetworkInterface", "DescribeNetworkInterfaces", "DescribeSubnets", "UnassignPrivateIpAddresses"} {
			require.Equal(t, []string{`"*"`}, may["ec2:"+action])
		}
		require.Equal(t, []string{key}, may["kms:Decrypt"])
	}
}

// The functions use a role and a log group that the user gives.
func TestE2EFunctionsWithARoleAndALog(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: jsii.Strings("glue:StartJobRun"), FunctionProps: &awslambda.FunctionProps{
			Role: newRole(stack), LogGroup: awslogs.NewLogGroup(stack, new("Own"), nil),
		}})
	})
	all.only(t, "AWS::IAM::Role")
	log := `{"Fn::GetAtt":["` + all.only(t, "AWS::Logs::LogGroup").id + `","Arn"]}`
	may := allowed(t, all, "Role")
	require.Equal(t, []string{log}, may["logs:PutLogEvents"])
	for _, action := range []string{"glue:StartJobRun", "glue:GetJobRun", "glue:BatchStopJobRun", "s3:PutObject", "xray:PutTraceSegments"} {
		require.Contains(t, may, action)
	}
}

// To a role that is imported nothing can be added where it must not change, or is of
// another account: the synthesis says what it needs.
func TestE2ERolesThatAreImported(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		role      func(stack awscdk.Stack) awsiam.IRole
		unchanged bool
	}{
		"imported": {func(stack awscdk.Stack) awsiam.IRole {
			return awsiam.Role_FromRoleArn(stack, new("Own"), new("arn:aws:iam::123456789012:role/own"), nil)
		}, false},
		"imported and not to be changed": {func(stack awscdk.Stack) awsiam.IRole {
			return awsiam.Role_FromRoleArn(stack, new("Own"), new("arn:aws:iam::123456789012:role/own"), &awsiam.FromRoleArnOptions{Mutable: new(false)})
		}, true},
		"not to be changed": {func(stack awscdk.Stack) awsiam.IRole { return newRole(stack).WithoutPolicyUpdates(nil) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inStack(t, func(stack awscdk.Stack) {
				newFunctions(t, stack, cdkapp.FunctionsProps{
					Jobs: jsii.Strings("glue:StartJobRun"), FunctionProps: &awslambda.FunctionProps{Role: tt.role(stack), Vpc: newVPC(stack)},
				})
				warnings := assertions.Annotations_FromStack(stack)
				say := func(of, actions string) {
					text := assertions.Match_StringLikeRegexp(new("the role of " + of + " is imported and cannot be changed: its policies must allow " + actions))
					if !tt.unchanged {
						warnings.HasNoWarning(new("*"), text)
						return
					}
					warnings.HasWarning(new("/Stack/Poller"), text)
				}
				const network = "ec2:AssignPrivateIpAddresses, ec2:CreateNetworkInterface, ec2:DeleteNetworkInterface, " +
					"ec2:DescribeNetworkInterfaces, ec2:DescribeSubnets, ec2:UnassignPrivateIpAddresses, "
				const rest = "logs:CreateLogStream, logs:PutLogEvents, s3:GetObject, s3:ListBucket, s3:PutObject, xray:PutTelemetryRecords, xray:PutTraceSegments"
				say("run-job", network+"glue:StartJobRun, "+rest)
				say("check-status", network+"glue:BatchStopJobRun, glue:GetJobRun, "+rest)
			})
		})
	}
}

func newQueue(stack awscdk.Stack, id string) awssqs.IQueue { return awssqs.NewQueue(stack, &id, nil) }

func newVPC(stack awscdk.Stack) awsec2.IVpc {
	return awsec2.Vpc_FromVpcAttributes(stack, jsii.String("Vpc"), &awsec2.VpcAttributes{
		VpcId: jsii.String("vpc-0a1b2c3d4e5f60718"), AvailabilityZones: jsii.Strings("us-east-1a"),
		PrivateSubnetIds: jsii.Strings("subnet-0a1b2c3d4e5f60718"), PrivateSubnetRouteTableIds: jsii.Strings("rtb-0a1b2c3d4e5f60718"),
		PublicSubnetIds: jsii.Strings("subnet-0a1b2c3d4e5f60720"), PublicSubnetRouteTableIds: jsii.Strings("rtb-0a1b2c3d4e5f60720"),
		IsolatedSubnetIds: jsii.Strings("subnet-0a1b2c3d4e5f60719"), IsolatedSubnetRouteTableIds: jsii.Strings("rtb-0a1b2c3d4e5f60719"),
	})
}
