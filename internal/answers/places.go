package answers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/commandline"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// Services are the flags that say where a run's calls of AWS services go.
type Services struct {
	Endpoints       []string // [SERVICE=]URL
	AWS             []string // services, or EveryService
	Region, Profile string

	Places Places // what they say, after Parse
}

// EveryService is the value of --aws without one.
const EveryService = "all"

// Place is where calls go: to a URL, or to AWS.
type Place struct{ url string }

// URL is where the calls go; empty for AWS.
func (p Place) URL() string { return p.url }

// IsAWS tells whether the calls go to AWS.
func (p Place) IsAWS() bool { return p.url == "" }

// Places are where calls go by the service's key in the AWS CLI; those of other
// services go to others, nil for nowhere.
type Places struct {
	byService map[string]Place
	others    *Place
}

// OrElse lets the calls of a service, or without a name those of all others, go to a URL
// where they have no place of their own.
func (p Places) OrElse(service, url string) Places {
	if service == "" {
		p.others = cmp.Or(p.others, &Place{url})
		return p
	}
	if _, named := p.byService[service]; named {
		return p
	}
	p.byService = maps.Clone(p.byService)
	if p.byService == nil {
		p.byService = map[string]Place{}
	}
	p.byService[service] = Place{url}
	return p
}

// GetFlagEndpoint is the URL of a service, by the name that the SDK has for it. It
// counts more than the variables of the SDK.
func (p Places) GetFlagEndpoint(sdkID string) (string, bool) {
	service, err := models.Load(sdkID)
	if err != nil {
		return "", false // a service that no flag can name
	}
	at, ok := p.Of(service.Key)
	return at.url, ok && !at.IsAWS()
}

// GetServiceBaseEndpoint implements the SDK's source of endpoints.
func (p Places) GetServiceBaseEndpoint(_ context.Context, sdkID string) (string, bool, error) {
	address, ok := p.GetFlagEndpoint(sdkID)
	return address, ok, nil
}

// Of is where calls of a service go.
func (p Places) Of(service string) (Place, bool) {
	if at, ok := p.byService[service]; ok {
		return at, true
	}
	if p.others != nil {
		return *p.others, true
	}
	return Place{}, false
}

// IsGiven tells whether calls go anywhere.
func (s *Services) IsGiven() bool { return len(s.Endpoints)+len(s.AWS) > 0 }

// Parse reads the flags, and reports what is wrong with them.
func (s *Services) Parse() error {
	s.Places = Places{byService: map[string]Place{}}
	var problems []error
	set := func(flag, service string, at Place) {
		known, err := models.Load(service)
		switch {
		case service == "" && s.Places.others != nil:
			problems = append(problems, fmt.Errorf("%s: the calls of all services go elsewhere already: name a service in one of the flags", flag))
		case service == "":
			s.Places.others = &at
		case err != nil:
			problems = append(problems, fmt.Errorf("%s: %w", flag, err))
		default:
			if _, twice := s.Places.byService[known.Key]; twice {
				problems = append(problems, fmt.Errorf("%s: the calls of %s go elsewhere already", flag, known.Key))
			}
			s.Places.byService[known.Key] = at
		}
	}
	for _, text := range s.Endpoints {
		service, address, named := strings.Cut(text, "=")
		if !named || strings.ContainsAny(service, ":/") { // an "=" of the URL
			service, address = "", text
		}
		if err := awssettings.CheckEndpoint("endpoint-url", address); err != nil {
			problems = append(problems, err)
			continue
		}
		set("--endpoint-url "+text, service, Place{address})
	}
	for _, service := range s.AWS {
		name := service
		if service == EveryService {
			name = ""
		}
		set("--aws="+service, name, Place{})
	}
	return errors.Join(problems...)
}

// reach finds out whether anybody listens at the URLs.
func (s *Services) reach(ctx context.Context) error {
	addresses := map[string]bool{}
	for _, at := range s.Places.All() {
		addresses[at.url] = !at.IsAWS()
	}
	for _, address := range slices.Sorted(maps.Keys(addresses)) {
		if addresses[address] {
			if err := Reach(ctx, "endpoint-url", address); err != nil {
				return err
			}
		}
	}
	return nil
}

// All are the places.
func (p Places) All() []Place {
	all := slices.Collect(maps.Values(p.byService))
	if p.others != nil {
		all = append(all, *p.others)
	}
	return all
}

// The variables that say where calls of AWS go.
const (
	EndpointVariable        = "AWS_ENDPOINT_URL" // _SERVICE may stand behind it
	IgnoreEndpointsVariable = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"
)

// Environ tells a process in its environment where calls go, whatever that says already.
func (p Places) Environ(env []string) ([]string, error) {
	if !slices.ContainsFunc(p.All(), func(at Place) bool { return !at.IsAWS() }) {
		return env, nil
	}
	everywhere := p.others != nil && !p.others.IsAWS()
	settings := map[string]string{}
	env = slices.DeleteFunc(env, func(variable string) bool {
		name, value, _ := strings.Cut(variable, "=")
		settings[name] = value
		return everywhere && strings.HasPrefix(name, EndpointVariable)
	})
	env = append(env, IgnoreEndpointsVariable+"=false")
	services, err := models.List()
	if err != nil {
		return nil, err
	}
	for _, service := range services {
		name := EndpointVariable + "_" + strings.ToUpper(strings.ReplaceAll(service.Name, " ", "_"))
		at, named := p.byService[service.Key]
		switch {
		case named && !at.IsAWS():
			env = append(env, name+"="+at.url)
		case named && everywhere: // no variable says "AWS", so there is none for all services
			if own := cmp.Or(settings[name], settings[EndpointVariable]); own != "" {
				env = append(env, name+"="+own)
			}
		case everywhere:
			env = append(env, name+"="+p.others.url)
		}
	}
	if everywhere && !slices.ContainsFunc(slices.Collect(maps.Values(p.byService)), Place.IsAWS) {
		env = append(env, EndpointVariable+"="+p.others.url) // also for services without a model
	}
	return env, nil
}

// Reach finds out whether anybody listens at an endpoint: a client of AWS would
// try for a minute and a half.
func Reach(ctx context.Context, flag, endpoint string) error {
	if endpoint == "" {
		return nil
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return commandline.Errorf("--%s: %w", flag, err)
	}
	port := cmp.Or(u.Port(), u.Scheme) // a name of a port too
	conn, err := (&net.Dialer{Timeout: reachTimeout}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return commandline.Errorf("--%s: cannot reach %s: %w", flag, endpoint, err)
	}
	return conn.Close()
}

const reachTimeout = 5 * time.Second
