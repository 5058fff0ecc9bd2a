package cli

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// variable is one of an environment.
type variable struct{ name, value string }

// The variables that say where calls of AWS go.
const (
	stepFunctionsVariable = "AWS_ENDPOINT_URL_SFN"
	// hostPrefixVariable keeps boto3 and the AWS CLI from calls of a host sync-...,
	// which does not resolve.
	hostPrefixVariable = "AWS_DISABLE_HOST_PREFIX_INJECTION"
)

// clientEnvironment is what a client needs to call the server.
func (o *serveOptions) clientEnvironment(ctx context.Context, getenv func(string) string) []variable {
	return o.environmentAt(ctx, getenv, o.url(), o.access)
}

// environmentAt is what a client needs to call the server at a URL. Credentials are those
// of the access, or the user's. They and the region are made up where the user has none,
// and --region wins.
func (o *serveOptions) environmentAt(ctx context.Context, getenv func(string) string, url string, a *access) []variable {
	forwards := o.forward != ""
	endpoint := stepFunctionsVariable
	if forwards {
		endpoint = answers.EndpointVariable
	}
	env := []variable{{endpoint, url}, {hostPrefixVariable, "true"}}
	if getenv(answers.IgnoreEndpointsVariable) != "" {
		env = append(env, variable{answers.IgnoreEndpointsVariable, "false"})
	}
	if forwards && getenv(stepFunctionsVariable) != "" { // it would win
		env = append(env, variable{stepFunctionsVariable, url})
	}
	profile := clientProfile(ctx, getenv)
	keys := profile.Credentials.HasKeys() || profile.RoleARN != "" || profile.CredentialProcess != "" || profile.SSOSessionName != "" ||
		profile.SSOStartURL != "" || profile.WebIdentityTokenFile != "" || profile.CredentialSource != "" || profile.SourceProfileName != ""
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	} {
		keys = keys || getenv(name) != ""
	}
	switch {
	case a != nil:
		own := a.keysFor(cmp.Or(getenv("AWS_ACCESS_KEY_ID"), profile.Credentials.AccessKeyID))
		env = append(env, variable{"AWS_ACCESS_KEY_ID", own.AccessKeyID}, variable{"AWS_SECRET_ACCESS_KEY", own.SecretAccessKey})
		if getenv("AWS_SESSION_TOKEN") != "" { // of the keys that these replace
			env = append(env, variable{"AWS_SESSION_TOKEN", ""})
		}
	case !keys:
		env = append(env, variable{"AWS_ACCESS_KEY_ID", awssettings.MadeUpKey}, variable{"AWS_SECRET_ACCESS_KEY", awssettings.MadeUpKey})
	}
	// The SDKs read one of the two, or the other.
	region := cmp.Or(o.services.Region, getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"), profile.Region, sim.DefaultRegion)
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if o.services.Region != "" || profile.Region == "" && getenv(name) == "" {
			env = append(env, variable{name, region})
		}
	}
	return env
}

// clientProfile is the profile of clients in the AWS configuration files; empty if there
// is none.
func clientProfile(ctx context.Context, getenv func(string) string) config.SharedConfig {
	profile, err := config.LoadSharedConfigProfile(ctx, cmp.Or(getenv("AWS_PROFILE"), config.DefaultSharedConfigProfile))
	if err != nil {
		return config.SharedConfig{}
	}
	return profile
}

// client calls a server of this process as clients of this environment do: they see what
// it creates.
func (o *serveOptions) client(ctx context.Context, s http.Handler, getenv func(string) string) localAPI {
	profile := clientProfile(ctx, getenv)
	return localAPI{
		server: s, account: cmp.Or(getenv("AWS_ACCESS_KEY_ID"), profile.Credentials.AccessKeyID),
		region: cmp.Or(o.services.Region, getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"), profile.Region),
	}
}

// printEnvironment writes the variables for a shell.
func printEnvironment(out io.Writer, env []variable) {
	for _, v := range env {
		terminal.Fprintf(out, "export %s='%s'\n", v.name, strings.ReplaceAll(v.value, "'", `'\''`))
	}
}

// addVariables adds the variables to an environment, where they win.
func addVariables(to []string, env []variable) []string {
	for _, v := range env {
		to = append(to, v.name+"="+v.value)
	}
	return to
}
