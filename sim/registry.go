package sim

// kinds are all the kinds there are: one line here, one folder of files named
// after it beside this one, its scenarios under scenarios/.
func kinds() []Kind {
	return []Kind{}
}
