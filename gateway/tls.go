package gateway

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// TLS says whether and how the gateways encrypt. The zero value is plain HTTP.
type TLS struct {
	On bool
	// CertFile and KeyFile are PEM files. Both empty with On makes a
	// certificate in memory that is its own authority and lasts a day.
	CertFile, KeyFile string
}

func (t TLS) check() error {
	if (t.CertFile == "") != (t.KeyFile == "") {
		return &ConfigError{"tls", t.CertFile + t.KeyFile, "want a certificate and its key"}
	}
	if t.CertFile != "" && !t.On {
		return &ConfigError{"tls", t.CertFile, "a certificate is given but TLS is off"}
	}
	return nil
}

// load returns the certificate and, for one made in memory, its PEM text for
// clients that want to trust it.
func (t TLS) load(host string) (tls.Certificate, []byte, error) {
	if t.CertFile == "" {
		return selfSigned(host)
	}
	c, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
	if err != nil {
		err = fmt.Errorf("reading the certificate: %w", err)
	}
	return c, nil, err
}

// selfSigned makes a certificate for this machine's loopback names and host.
func selfSigned(host string) (tls.Certificate, []byte, error) {
	fail := func(err error) (tls.Certificate, []byte, error) {
		return tls.Certificate{}, nil, fmt.Errorf("making a certificate: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fail(err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return fail(err)
	}
	now := time.Now()
	tmpl := x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "weir serve"},
		// An hour back, for a peer whose clock is behind.
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	if ip := net.ParseIP(host); ip != nil {
		tmpl.IPAddresses = append(tmpl.IPAddresses, ip)
	} else if host != "" && host != "localhost" {
		tmpl.DNSNames = append(tmpl.DNSNames, host)
	}
	der, err := x509.CreateCertificate(rand.Reader, &tmpl, &tmpl, &key.PublicKey, key)
	if err != nil {
		return fail(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, text, nil
}
