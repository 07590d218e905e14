package redisconn

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/weir-cli/weir/report"
)

// Options say where a Redis is and how to be let in. Only URL must be set.
type Options struct {
	URL string // see the package's comment

	User string // the ACL user, unless the URL names it
	// Password is used when neither the URL nor PasswordFile has one, so that
	// it can stand in an environment for all URLs.
	Password         string
	PasswordFile     string // a file with the password and nothing else
	SentinelPassword string // the sentinels' own, unless the URL has it

	CAFile            string // PEM; the system's authorities if empty
	CertFile, KeyFile string // PEM; a client certificate, both or neither
	ServerName        string // what certificates are made out to, if not to the host
	Insecure          bool   // believe any certificate

	PoolSize    int           // connections to one node, and ten more for pipelines; 0 is ten per CPU
	DialTimeout time.Duration // 0 is 2 s
	ReadTimeout time.Duration // of one reply when no context ends sooner; 0 is 3 s
}

const (
	defaultDialTimeout = 2 * time.Second
	defaultReadTimeout = 3 * time.Second
	// maxFile bounds the files that options name, in bytes.
	maxFile = 1 << 20
)

// login is who to log in as, out of the URL and the options.
func (o *Options) login(t *target) (login, error) {
	l := t.login
	if o.User != "" {
		if l.user != "" && l.user != o.User {
			return l, &ConfigError{"the URL and the options name different users: " + report.Clean(l.user) + " and " + report.Clean(o.User), "leave one out"}
		}
		l.user = o.User
	}
	switch {
	case o.PasswordFile != "" && l.password != "":
		return l, &ConfigError{"the password is given twice, in the URL and in a file", "leave the URL's out"}
	case o.PasswordFile != "":
		p, err := readPassword(o.PasswordFile)
		if err != nil {
			return l, err
		}
		l.password = p
	case l.password == "":
		l.password = o.Password
	}
	if l.user != "" && l.password == "" {
		return l, &ConfigError{"a user is named, " + report.Clean(l.user) + ", and no password is given", "--redis-password-file FILE, or the password in WEIR_REDIS_PASSWORD"}
	}
	return l, nil
}

// readPassword reads a file that holds one line.
func readPassword(path string) (string, error) {
	text, err := readFile("password file", path)
	if err != nil {
		return "", err
	}
	p := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	switch {
	case p == "":
		return "", &ConfigError{"the password file is empty: " + report.Clean(path), "put the password there, on one line"}
	case strings.ContainsAny(p, "\r\n\x00"):
		return "", &ConfigError{"the password file holds more than one line: " + report.Clean(path), "put the password there, on one line"}
	}
	return p, nil
}

// FileError is a file of the options that cannot be read.
type FileError struct {
	What string // what it was to hold, such as "password file"
	Err  error
}

func (e *FileError) Error() string { return "redis: " + e.What + ": " + e.Err.Error() }
func (e *FileError) Unwrap() error { return e.Err }

func readFile(what, path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &FileError{what, err}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s: larger than 1 MiB", path)
	}
	if err != nil {
		return nil, &FileError{what, err}
	}
	return text, nil
}

// tls is what the options and the URL make of TLS, nil for none.
func (o *Options) tls(t *target) (*tls.Config, error) {
	if !t.tls {
		if o.CAFile != "" || o.CertFile != "" || o.KeyFile != "" || o.ServerName != "" || o.Insecure {
			return nil, &ConfigError{"TLS options are given, and the URL's scheme, " + t.scheme + ", has no TLS", tlsHint(t)}
		}
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: o.ServerName, InsecureSkipVerify: o.Insecure}
	if o.Insecure && o.CAFile != "" {
		return nil, &ConfigError{"a CA file says nothing where every certificate is believed", "leave one of them out"}
	}
	if o.CAFile != "" {
		text, err := readFile("CA file", o.CAFile)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, &ConfigError{"the CA file holds no certificate: " + report.Clean(o.CAFile), "a file in PEM, which begins -----BEGIN CERTIFICATE-----"}
		}
	}
	if (o.CertFile == "") != (o.KeyFile == "") {
		return nil, &ConfigError{"a client certificate needs both its file and its key's", "--redis-cert FILE --redis-key FILE"}
	}
	if o.CertFile != "" {
		own, err := keyPair(o.CertFile, o.KeyFile)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{own}
	}
	return c, nil
}

func keyPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := readFile("client certificate", certFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := readFile("client certificate's key", keyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	own, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return own, &ConfigError{"the client certificate and its key: " + err.Error(), "two files in PEM that belong together"}
	}
	return own, nil
}

func tlsHint(t *target) string {
	if t.topology == socket {
		return "leave them out: a unix socket needs none"
	}
	return "rediss" + strings.TrimPrefix(t.scheme, "redis") + "://…"
}
