package gateway

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

// listenAll opens one listener per gateway, or none: when one address is
// taken, those opened before it are closed again.
func (c *Config) listenAll() (all []net.Listener, urls []string, err error) {
	defer func() {
		if err != nil {
			for _, l := range all {
				l.Close()
			}
			all, urls = nil, nil
		}
	}()
	for i := range c.Gateways {
		l, url, err := c.listen(i)
		if err != nil {
			return all, urls, err
		}
		all, urls = append(all, l), append(urls, url)
	}
	return all, urls, nil
}

func (c *Config) listen(i int) (net.Listener, string, error) {
	if c.Unix != "" {
		return c.listenUnix(i)
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil, "", &ConfigError{"listen", c.Listen, "want HOST:PORT"}
	}
	if p, _ := strconv.Atoi(port); p != 0 {
		port = strconv.Itoa(p + i)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, "", fmt.Errorf("gateway %d: %w", i+1, err)
	}
	scheme := "http://"
	if c.TLS.On {
		scheme = "https://"
	}
	return l, scheme + l.Addr().String(), nil
}

func (c *Config) listenUnix(i int) (net.Listener, string, error) {
	path := c.Unix
	if c.Gateways > 1 {
		path += "." + strconv.Itoa(i+1)
	}
	if err := removeStale(path); err != nil {
		return nil, "", fmt.Errorf("gateway %d: %w", i+1, err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, "", fmt.Errorf("gateway %d: %w", i+1, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, "", fmt.Errorf("gateway %d: %w", i+1, err)
	}
	return l, "unix:" + path, nil
}

// removeStale removes a socket that nobody listens on any more. It leaves
// everything else alone, so that a wrong path costs no file.
func removeStale(path string) error {
	st, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if st.Mode()&os.ModeSocket == 0 {
		return fmt.Errorf("%s exists and is not a socket", path)
	}
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		conn.Close()
		return fmt.Errorf("%s is in use by another server", path)
	}
	return os.Remove(path)
}
