package httpdo

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/weir-cli/weir/report"
)

// classOfHTTP names an error of net/http.
func classOfHTTP(err error) report.Class {
	var (
		dns     *net.DNSError
		op      *net.OpError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		verify  *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		net_    net.Error
	)
	switch {
	case errors.As(err, &dns):
		return report.UnknownHost
	case errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid), errors.As(err, &verify), errors.As(err, &record), errors.As(err, &alert):
		return report.TLSFailed
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOENT):
		return report.ConnectRefused
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.EADDRNOTAVAIL):
		return report.NoHandles
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return report.Unreachable
	case errors.As(err, &op) && op.Op == "dial" && op.Timeout():
		return report.ConnectTimeout
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &net_) && net_.Timeout():
		return report.Timeout
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return report.ConnReset
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(err.Error(), "server closed"):
		return report.ClosedEarly
	case strings.Contains(err.Error(), "header") && strings.Contains(err.Error(), "exceeded"):
		return report.TooLarge
	case strings.Contains(err.Error(), "malformed"), strings.Contains(err.Error(), "transport connection broken"), strings.Contains(err.Error(), "invalid"):
		return report.Malformed
	}
	return report.OtherError
}
