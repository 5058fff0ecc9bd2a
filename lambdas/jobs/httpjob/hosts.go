package httpjob

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// ErrNotAllowed means that a URL leads to where the driver must not go: to a
// server that is not on its list, without TLS, or to an address that serves the
// machine it runs on.
var ErrNotAllowed = errors.New("not allowed")

// refusal is an ErrNotAllowed. It has no other cause: that of a dial would make
// it look like a connection that can be tried again.
type refusal struct{ reason, own string }

func (r *refusal) Error() string { return ErrNotAllowed.Error() + ": " + r.reason }

func (*refusal) Unwrap() error { return ErrNotAllowed }

// OwnWords is the text without what it quotes, for logs.
func (r *refusal) OwnWords() string { return ErrNotAllowed.Error() + ": " + r.own }

func refuse(format string, args ...any) error {
	return &refusal{fmt.Sprintf(format, args...), diag.OwnWords(format, args...)}
}

const dialTimeout = 10 * time.Second

// servers are those that the driver may call.
type servers struct {
	list     []server
	loopback bool
}

// server is an entry of the list.
type server struct {
	name, port string
	below      bool // all names below this one, as "*.example.com" says
}

var hostName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$`)
})

// parseServer reads "host", "host:port", and either with "*." before it.
func parseServer(entry string) (server, error) {
	rest, below := strings.CutPrefix(strings.ToLower(entry), "*.")
	u, err := url.Parse("//" + rest)
	if err != nil || u.Host != rest || strings.HasSuffix(rest, ":") {
		return server{}, fmt.Errorf("expected host, host:port or *.example.com, found %q", entry)
	}
	s := server{u.Hostname(), u.Port(), below}
	address, notIP := netip.ParseAddr(s.name)
	switch {
	case notIP != nil && !hostName().MatchString(s.name), address.Zone() != "":
		return server{}, fmt.Errorf("expected host, host:port or *.example.com, found %q", entry)
	case below && (notIP == nil || !strings.Contains(s.name, ".")):
		return server{}, fmt.Errorf("expected a domain of at least two labels after *., found %q", entry)
	}
	return s, nil
}

// matches reports whether the entry allows the server. An entry without a port
// allows the one of the scheme.
func (s server) matches(name, port, schemePort string) bool {
	if s.port != port && (s.port != "" || port != schemePort) {
		return false
	}
	return name == s.name && !s.below || s.below && strings.HasSuffix(name, "."+s.name)
}

// check returns ErrNotAllowed unless the URL leads to a server on the list, by
// https or to this machine.
func (a servers) check(u *url.URL) error {
	name, port, schemePort := strings.ToLower(u.Hostname()), u.Port(), "443"
	switch {
	case u.Scheme == "http" && a.loopback && isLoopback(name):
		schemePort = "80"
	case u.Scheme != "https":
		return refuse("expected an https URL")
	}
	if port == "" {
		port = schemePort
	}
	switch {
	case u.User != nil:
		return refuse("the URL must not have a user or password")
	case u.Fragment != "":
		return refuse("the URL must not have a fragment, which is never sent to a server")
	case !slices.ContainsFunc(a.list, func(s server) bool { return s.matches(name, port, schemePort) }):
		return refuse("%s does not list the server of the URL", diag.Word(EnvHosts))
	}
	return nil
}

// isLoopback reports whether a host name says that it is of this machine.
func isLoopback(name string) bool {
	address, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && address.Unmap().IsLoopback()
}

// dial connects to a server whose name is on the list. The address that the
// name resolves to is judged when the connection is made, so that a name that
// resolves differently each time leads nowhere else.
func (a servers) dial(ctx context.Context, network, hostPort string) (net.Conn, error) {
	name, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	local := a.loopback && isLoopback(name)
	dialer := net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		return checkAddress(address, local)
	}}
	return dialer.DialContext(ctx, network, hostPort)
}

var (
	// nat64 holds IPv4 addresses in its last 4 bytes (RFC 6052).
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
	// awsLocal is where AWS serves instance metadata, DNS and time over IPv6.
	awsLocal = netip.MustParsePrefix("fd00:ec2::/32")
)

// checkAddress returns ErrNotAllowed for addresses that are of this machine, or
// serve it: metadata, credentials, the Lambda Runtime API. With local it wants
// this machine instead.
func checkAddress(address string, local bool) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return refuse("address %q cannot be read", address)
	}
	ip := ap.Addr().Unmap()
	if nat64.Contains(ip) {
		bytes := ip.As16()
		ip = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	switch {
	case local && ip.IsLoopback():
		return nil
	case local || ip.IsLoopback() || ip.IsUnspecified() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || awsLocal.Contains(ip.WithZone("")):
		return refuse("the server's name leads to %s", ip)
	default:
		return nil
	}
}
