package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// services are the flags that say where a run's calls of AWS services go.
type services struct {
	endpoints       []string // [SERVICE=]URL
	aws             []string // services, or everyService
	region, profile string

	places places // what they say
}

// everyService is the value of --aws without one.
const everyService = "all"

// place is where calls go: to a URL, or to AWS.
type place struct{ url string }

func (p place) isAWS() bool { return p.url == "" }

// places are where calls go by the service's key in the AWS CLI; those of other
// services go to others, nil for nowhere.
type places struct {
	byService map[string]place
	others    *place
}

// GetFlagEndpoint is the URL of a service, by the name that the SDK has for it. It
// counts more than the variables of the SDK.
func (p places) GetFlagEndpoint(sdkID string) (string, bool) {
	service, err := models.Load(sdkID)
	if err != nil {
		return "", false // a service that no flag can name
	}
	at, ok := p.of(service.Key)
	return at.url, ok && !at.isAWS()
}

// GetServiceBaseEndpoint implements the SDK's source of endpoints.
func (p places) GetServiceBaseEndpoint(_ context.Context, sdkID string) (string, bool, error) {
	address, ok := p.GetFlagEndpoint(sdkID)
	return address, ok, nil
}

// of is where calls of a service go.
func (p places) of(service string) (place, bool) {
	if at, ok := p.byService[service]; ok {
		return at, true
	}
	if p.others != nil {
		return *p.others, true
	}
	return place{}, false
}

func (s *services) addTo(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&s.endpoints, "endpoint-url", nil, "`[SERVICE=]URL` that calls of AWS services go to; repeatable")
	f.StringSliceVar(&s.aws, "aws", nil, "call AWS, for all services or those of the list, which AWS charges for (--aws or --aws=`SERVICES`)")
	f.Lookup("aws").NoOptDefVal = everyService
	f.StringVar(&s.region, "region", "", "AWS `REGION`, instead of the configured one")
	f.StringVar(&s.profile, "profile", "", "`PROFILE` of the AWS configuration files")
	completeNothing(c, "endpoint-url", "region", "profile")
	must(c.RegisterFlagCompletionFunc("aws", func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return completeService(typed), cobra.ShellCompDirectiveNoFileComp
	}))
}

// isGiven tells whether calls go anywhere.
func (s *services) isGiven() bool { return len(s.endpoints)+len(s.aws) > 0 }

// validate reads the flags, and reports what is wrong with them.
func (s *services) validate() error {
	s.places = places{byService: map[string]place{}}
	var problems []error
	set := func(flag, service string, at place) {
		known, err := models.Load(service)
		switch {
		case service == "" && s.places.others != nil:
			problems = append(problems, fmt.Errorf("%s: the calls of all services go elsewhere already: name a service in one of the flags", flag))
		case service == "":
			s.places.others = &at
		case err != nil:
			problems = append(problems, fmt.Errorf("%s: %w", flag, err))
		default:
			if _, twice := s.places.byService[known.Key]; twice {
				problems = append(problems, fmt.Errorf("%s: the calls of %s go elsewhere already", flag, known.Key))
			}
			s.places.byService[known.Key] = at
		}
	}
	for _, text := range s.endpoints {
		service, address, named := strings.Cut(text, "=")
		if !named || strings.ContainsAny(service, ":/") { // an "=" of the URL
			service, address = "", text
		}
		if err := checkEndpoint("endpoint-url", address); err != nil {
			problems = append(problems, err)
			continue
		}
		set("--endpoint-url "+text, service, place{address})
	}
	for _, service := range s.aws {
		name := service
		if service == everyService {
			name = ""
		}
		set("--aws="+service, name, place{})
	}
	return errors.Join(problems...)
}

// reach finds out whether anybody listens at the URLs.
func (s *services) reach(ctx context.Context) error {
	addresses := map[string]bool{}
	for _, at := range s.places.all() {
		addresses[at.url] = !at.isAWS()
	}
	for _, address := range slices.Sorted(maps.Keys(addresses)) {
		if addresses[address] {
			if err := reach(ctx, "endpoint-url", address); err != nil {
				return err
			}
		}
	}
	return nil
}

// all are the places.
func (p places) all() []place {
	all := slices.Collect(maps.Values(p.byService))
	if p.others != nil {
		all = append(all, *p.others)
	}
	return all
}

// configuration is that for calls that go to a place. A URL needs neither a region
// nor credentials: made-up ones sign for it where there are none.
func (s *services) configuration(ctx context.Context, at place, verbose bool) (aws.Config, error) {
	if at.isAWS() {
		flags := awsFlags{region: s.region, profile: s.profile}
		return flags.configuration(ctx, verbose)
	}
	cfg, err := s.local(ctx)
	cfg.BaseEndpoint, cfg.ConfigSources = &at.url, nil // the flag counts more than a variable
	return cfg, err
}

// madeUpKey signs for servers that take any key, where the user has none.
const madeUpKey = "local"

// local is the user's configuration for servers that are not AWS's.
func (s *services) local(ctx context.Context) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{
		config.WithDefaultRegion(sim.DefaultRegion), config.WithEC2IMDSClientEnableState(imds.ClientDisabled),
	}
	if s.region != "" {
		options = append(options, config.WithRegion(s.region))
	}
	if s.profile != "" {
		options = append(options, config.WithSharedConfigProfile(s.profile))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return cfg, fmt.Errorf("AWS configuration: %w", err)
	}
	if _, err := cfg.Credentials.Retrieve(ctx); ctx.Err() != nil {
		return cfg, ctx.Err() // which says nothing of the credentials
	} else if err != nil {
		cfg.Credentials = credentials.NewStaticCredentialsProvider(madeUpKey, madeUpKey, "")
	}
	return cfg, nil
}

// localSettings is the local configuration, which the first request that needs it loads for
// all.
type localSettings struct {
	services *services
	turn     chan struct{} // holds one while somebody loads
	cfg      *aws.Config
}

func newLocalSettings(s *services) *localSettings {
	return &localSettings{services: s, turn: make(chan struct{}, 1)}
}

// load waits for the configuration no longer than ctx.
func (l *localSettings) load(ctx context.Context) (aws.Config, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return aws.Config{}, ctx.Err()
	}
	if l.cfg == nil {
		cfg, err := l.services.local(ctx)
		if err != nil {
			return cfg, err
		}
		l.cfg = &cfg
	}
	return *l.cfg, nil
}

// ofFunctions is the configuration of the Lambda functions that run here, which
// call services of several places.
func (s *services) ofFunctions(ctx context.Context, verbose bool) (aws.Config, error) {
	if slices.ContainsFunc(s.places.all(), place.isAWS) {
		cfg, err := s.configuration(ctx, place{}, verbose)
		cfg.ConfigSources = slices.Insert(cfg.ConfigSources, 0, any(s.places))
		return cfg, err
	}
	cfg, err := s.local(ctx)
	cfg.ConfigSources = slices.Insert(cfg.ConfigSources, 0, any(s.places))
	if s.places.others != nil {
		cfg.BaseEndpoint = &s.places.others.url
	}
	return cfg, err
}

// baseOf is the URL that the user's settings have for calls of AWS, such as
// AWS_ENDPOINT_URL; empty for AWS itself.
func baseOf(cfg *aws.Config, service *catalog.Service) (string, error) {
	settings, err := awscall.SettingsOf(cfg, service.Name)
	if err != nil || settings.Base == nil {
		return "", err
	}
	return settings.Base.String(), nil
}

// addTo tells a process in its environment where calls go, whatever that says already.
func (p places) addTo(env []string) ([]string, error) {
	if !slices.ContainsFunc(p.all(), func(at place) bool { return !at.isAWS() }) {
		return env, nil
	}
	const all, ignore = "AWS_ENDPOINT_URL", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"
	everywhere := p.others != nil && !p.others.isAWS()
	settings := map[string]string{}
	env = slices.DeleteFunc(env, func(variable string) bool {
		name, value, _ := strings.Cut(variable, "=")
		settings[name] = value
		return everywhere && strings.HasPrefix(name, all)
	})
	env = append(env, ignore+"=false")
	services, err := models.List()
	if err != nil {
		return nil, err
	}
	for _, service := range services {
		name := all + "_" + strings.ToUpper(strings.ReplaceAll(service.Name, " ", "_"))
		at, named := p.byService[service.Key]
		switch {
		case named && !at.isAWS():
			env = append(env, name+"="+at.url)
		case named && everywhere: // no variable says "AWS", so there is none for all services
			if own := cmp.Or(settings[name], settings[all]); own != "" {
				env = append(env, name+"="+own)
			}
		case everywhere:
			env = append(env, name+"="+p.others.url)
		}
	}
	if everywhere && !slices.ContainsFunc(slices.Collect(maps.Values(p.byService)), place.isAWS) {
		env = append(env, all+"="+p.others.url) // also for services without a model
	}
	return env, nil
}
