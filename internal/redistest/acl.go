package redistest

import (
	"net/url"
	"strings"
	"testing"
)

// adminUser may do everything on a server of [ACL]; CLI and Client are it.
const (
	adminUser     = "admin"
	adminPassword = "admin-password"
)

// ACL starts a real server where nobody may do anything without a login.
// Each of users is what ACL SETUSER takes, a name and its rules, such as
// "limiter on >secret ~rl:* +evalsha". They survive a restart.
func ACL(t testing.TB, users ...string) *Redis {
	t.Helper()
	args := []string{"--user", adminUser, "on", ">" + adminPassword, "~*", "&*", "+@all", "--user", "default", "off"}
	for _, u := range users {
		args = append(append(args, "--user"), strings.Fields(u)...)
	}
	r := Server(t, args...)
	r.admin.Username, r.admin.Password = adminUser, adminPassword
	return r
}

// As is the server's URL with a login.
func (r *Redis) As(user, password string) string {
	r.t.Helper()
	u, err := url.Parse(r.URL)
	if err != nil {
		r.t.Fatal(err)
	}
	u.User = url.UserPassword(user, password)
	return u.String()
}
