-- What windows aligned to time zero have in common: into is how far t is into
-- its window of w.
local function into(t, w)
  return math.fmod(t, w)
end
