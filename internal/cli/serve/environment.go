package serve

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// variable is one of an environment, or one that must not be there.
type variable struct {
	name, value string
	unset       bool
}

// The variables that say where calls of AWS go.
const (
	stepFunctionsVariable = "AWS_ENDPOINT_URL_SFN"
	// hostPrefixVariable keeps boto3 and the AWS CLI from calls of a host sync-...,
	// which does not resolve.
	hostPrefixVariable = "AWS_DISABLE_HOST_PREFIX_INJECTION"
	profileVariable    = "AWS_PROFILE"
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
	env := []variable{{name: endpoint, value: url}, {name: hostPrefixVariable, value: "true"}}
	if getenv(answers.IgnoreEndpointsVariable) != "" {
		env = append(env, variable{name: answers.IgnoreEndpointsVariable, value: "false"})
	}
	if forwards && getenv(stepFunctionsVariable) != "" { // it would win
		env = append(env, variable{name: stepFunctionsVariable, value: url})
	}
	profile := clientProfile(ctx, getenv)
	keys := profile.Credentials.HasKeys() || profile.RoleARN != "" || profile.CredentialProcess != "" || profile.SSOSessionName != "" ||
		profile.SSOStartURL != "" || profile.WebIdentityTokenFile != "" || profile.CredentialSource != "" || profile.SourceProfileName != ""
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	} {
		keys = keys || getenv(name) != ""
	}
	own := loopback.Keys{AccessKeyID: awssettings.MadeUpKey, SecretAccessKey: awssettings.MadeUpKey}
	if a != nil {
		own = a.keysFor(cmp.Or(getenv("AWS_ACCESS_KEY_ID"), profile.Credentials.AccessKeyID))
	}
	fromProfile := profile.Region // where clients find the region themselves
	if a != nil || !keys {
		env = append(env, variable{name: "AWS_ACCESS_KEY_ID", value: own.AccessKeyID}, variable{name: "AWS_SECRET_ACCESS_KEY", value: own.SecretAccessKey})
		// The token is of the keys that these replace. The SDK for JavaScript takes the
		// profile before the keys, and boto3 fails where the profile is empty.
		for _, name := range []string{"AWS_SESSION_TOKEN", profileVariable} {
			if getenv(name) != "" {
				env = append(env, variable{name: name, unset: true})
			}
		}
		if getenv(profileVariable) != "" {
			fromProfile = ""
		}
	}
	// The SDKs read one of the two, or the other.
	region := cmp.Or(o.services.Region, getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"), profile.Region, sim.DefaultRegion)
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if o.services.Region != "" || fromProfile == "" && getenv(name) == "" {
			env = append(env, variable{name: name, value: region})
		}
	}
	return env
}

// clientProfile is the profile of clients in the AWS configuration files; empty if there
// is none.
func clientProfile(ctx context.Context, getenv func(string) string) config.SharedConfig {
	name := cmp.Or(getenv(profileVariable), config.DefaultSharedConfigProfile)
	profile, err := config.LoadSharedConfigProfile(ctx, name, func(o *config.LoadSharedConfigOptions) {
		if file := getenv("AWS_CONFIG_FILE"); file != "" {
			o.ConfigFiles = []string{file}
		}
		if file := getenv("AWS_SHARED_CREDENTIALS_FILE"); file != "" {
			o.CredentialsFiles = []string{file}
		}
	})
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
		if v.unset {
			terminal.Fprintf(out, "unset %s\n", v.name)
			continue
		}
		terminal.Fprintf(out, "export %s='%s'\n", v.name, strings.ReplaceAll(v.value, "'", `'\''`))
	}
}

// addVariables adds the variables to an environment, where they win.
func addVariables(to []string, env []variable) []string {
	for _, v := range env {
		if v.unset {
			to = slices.DeleteFunc(slices.Clone(to), func(set string) bool { return strings.HasPrefix(set, v.name+"=") })
			continue
		}
		to = append(to, v.name+"="+v.value)
	}
	return to
}
