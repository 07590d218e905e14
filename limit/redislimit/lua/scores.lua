-- What sorted sets have in common: score reads one, which servers write with
-- an exponent when it is round, and is nil for what is no whole number.
local function score(s)
  local n = tonumber(s or '')
  if n and n >= -MAX and n <= MAX and n == floor(n) then return n end
end
