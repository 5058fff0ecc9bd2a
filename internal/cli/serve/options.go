package serve

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/nearest"
)

// clockMode is what --time says.
type clockMode struct {
	virtual bool
	factor  float64 // 0: it stands
}

// readClockMode reads --time.
func readClockMode(text string) (clockMode, error) {
	switch text {
	case "real":
		return clockMode{factor: 1}, nil
	case "virtual":
		return clockMode{virtual: true}, nil
	case "manual":
		return clockMode{}, nil
	}
	factor, err := strconv.ParseFloat(strings.TrimPrefix(text, "x"), 64)
	if !strings.HasPrefix(text, "x") || err != nil || !(factor > 0) || factor > math.MaxInt32 {
		words := []string{"real", "virtual", "manual"}
		return clockMode{}, fmt.Errorf("--time must be real, virtual, manual, or a factor such as x60, is %q%s", text, nearest.DidYouMean(text, words))
	}
	return clockMode{factor: factor}, nil
}

// hostName is a name or an address, with a port if wanted.
var hostName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\[[0-9A-Fa-f:]+\]|[\w.-]+)(:\d{1,5})?$`) })

// The variables that users of Step Functions Local and of emulators have set.
const lambdaEndpointVariable = "LAMBDA_ENDPOINT"

var mockConfigVariables = []string{"SFN_MOCK_CONFIG", "LOCALSTACK_SFN_MOCK_CONFIG"}

// validate reports what is wrong with the flags, all at once.
func (o *serveOptions) validate(getenv func(string) string) (err error) {
	var problems []error
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	const mostPort = 65535
	if o.port < 0 || o.port > mostPort {
		report("--port must be from 0 to %d, is %d", mostPort, o.port)
	}
	if o.printEnv && o.port == 0 {
		report("--print-env needs the port of the server: name it with --port")
	}
	if o.printEnv && len(o.command) > 0 {
		report("--print-env and a command exclude each other: the command gets the environment")
	}
	if o.listen != "" && net.ParseIP(strings.Trim(o.listen, "[]")) == nil && o.listen != "localhost" {
		report("--listen must be an address of this machine without a port, such as 0.0.0.0, is %q", o.listen)
	}
	for _, host := range o.hosts {
		if !hostName().MatchString(host) {
			report("--host must be NAME or NAME:PORT, is %q", host)
		}
	}
	if o.clock, err = readClockMode(o.time); err != nil {
		problems = append(problems, err)
	}
	o.lambdaEndpoint = cmp.Or(o.lambdaEndpoint, getenv(lambdaEndpointVariable))
	for flag, address := range map[string]string{"forward": o.forward, "lambda-endpoint": o.lambdaEndpoint} {
		if address != "" {
			problems = append(problems, awssettings.CheckEndpoint(flag, address))
		}
	}
	for _, name := range mockConfigVariables {
		o.mockConfig = cmp.Or(o.mockConfig, getenv(name))
	}
	problems = append(problems, o.simulated.Check(strings.Join(o.mocks, ", ")))
	if o.simulated.Said, err = kit.ReadStatuses(o.statuses); err != nil {
		problems = append(problems, err)
	} else if len(o.statuses) > 0 && !o.simulated.IsGiven() && len(o.watch) == 0 {
		report("--status needs --simulate or --watch: it is about simulated jobs, and loops that are checked")
	}
	if o.functions, err = answers.ReadFunctions(o.lambdas); err != nil {
		problems = append(problems, err)
	}
	if o.limits != "" && o.limits != "aws" {
		report("--limits must be aws, is %q", o.limits)
	}
	if o.eventsTo != "" {
		if _, _, err := o.readEventsTo(); err != nil {
			problems = append(problems, err)
		}
	}
	problems = append(problems, o.checkWatch(), o.services.Parse(), o.checkForward(), checkSecret(getenv))
	if err := errors.Join(problems...); err != nil {
		return kit.Usage("%w", err)
	}
	return nil
}

// checkWatch reports what is wrong with the flags about definitions of files.
func (o *serveOptions) checkWatch() error {
	if len(o.express) > 0 && len(o.watch) == 0 {
		return errors.New("--express needs --watch: it is about the definitions of files")
	}
	_, err := kit.Substitutions(o.substitutes).Values()
	return err
}

// host is the address that the server listens on.
func (o *serveOptions) host() string { return cmp.Or(strings.Trim(o.listen, "[]"), "127.0.0.1") }

// address is what clients of this machine call.
func (o *serveOptions) address() string {
	host := o.host()
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.Itoa(o.port))
}

// url is that as a URL.
func (o *serveOptions) url() string { return "http://" + o.address() }

// readEventsTo reads --events-to: where events go, and whether as PutEvents.
func (o *serveOptions) readEventsTo() (to *url.URL, putEvents bool, err error) {
	address, putEvents := strings.CutPrefix(o.eventsTo, "events=")
	to, err = awscall.ParseEndpoint(address)
	if err != nil {
		return nil, false, fmt.Errorf("--events-to %w; pass one such as http://127.0.0.1:9000/events, or events=http://127.0.0.1:5000 for PutEvents", err)
	}
	return to, putEvents, nil
}

// checkForward refuses a server that would send requests to itself.
func (o *serveOptions) checkForward() error {
	if o.forward == "" {
		return nil
	}
	to, err := awscall.ParseEndpoint(o.forward)
	if err != nil {
		return nil //nolint:nilerr // validate says it
	}
	ip := net.ParseIP(to.Hostname())
	here := to.Hostname() == "localhost" || to.Hostname() == o.host() || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
	if here && portOf(to) == o.port && o.port != 0 {
		return fmt.Errorf("--forward %s is this server itself: name the URL of the other one, or pass another --port", o.forward)
	}
	return nil
}

func portOf(u *url.URL) int {
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		const http, https = 80, 443
		if u.Scheme == "https" {
			return https
		}
		return http
	}
	return port
}
