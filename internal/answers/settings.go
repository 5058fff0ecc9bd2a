package answers

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Local is the user's configuration for servers that are not AWS's.
func (s *Services) Local(ctx context.Context) (aws.Config, error) {
	return awssettings.LoadLocal(ctx, awssettings.Options{Region: s.Region, Profile: s.Profile}, sim.DefaultRegion)
}

// localSettings is the local configuration, which the first request that needs it loads for
// all.
type localSettings struct {
	services *Services
	turn     chan struct{} // holds one while somebody loads
	cfg      *aws.Config
}

func newLocalSettings(s *Services) *localSettings {
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
		cfg, err := l.services.Local(ctx)
		if err != nil {
			return cfg, err
		}
		l.cfg = &cfg
	}
	return *l.cfg, nil
}

// OfFunctions is the configuration of the Lambda functions that run here, which
// call services of several places.
func (s *Services) OfFunctions(ctx context.Context, verbose bool) (aws.Config, error) {
	if slices.ContainsFunc(s.Places.All(), Place.IsAWS) {
		cfg, err := s.configuration(ctx, Place{}, verbose)
		cfg.ConfigSources = slices.Insert(cfg.ConfigSources, 0, any(s.Places))
		return cfg, err
	}
	cfg, err := s.Local(ctx)
	cfg.ConfigSources = slices.Insert(cfg.ConfigSources, 0, any(s.Places))
	if s.Places.others != nil {
		cfg.BaseEndpoint = &s.Places.others.url
	}
	return cfg, err
}

// configuration is that for calls that go to a place. A URL needs neither a region
// nor credentials: made-up ones sign for it where there are none.
func (s *Services) configuration(ctx context.Context, at Place, verbose bool) (aws.Config, error) {
	if at.IsAWS() {
		return awssettings.Load(ctx, awssettings.Options{Region: s.Region, Profile: s.Profile, Verbose: verbose})
	}
	cfg, err := s.Local(ctx)
	cfg.BaseEndpoint, cfg.ConfigSources = &at.url, nil // the flag counts more than a variable
	return cfg, err
}
