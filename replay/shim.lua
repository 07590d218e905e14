local redis,server=(function(R,S)
local tab,str,num=table,string,tonumber
local ctl=tab.remove(ARGV)
local sec,usec,mode,limit,prefix=str.match(ctl,'^(%S+) (%S+) (%S+) (%S+) (.*)$')
limit=num(limit)
S.n,S.w,S.log,S.bad=0,0,{},''
local all={DEL=1,UNLINK=1,EXISTS=1,MGET=1,TOUCH=1,SUNION=1,SINTER=1,SDIFF=1,RENAME=1,RENAMENX=1,SUNIONSTORE=1,SINTERSTORE=1,SDIFFSTORE=1,RPOPLPUSH=1,PFCOUNT=1,PFMERGE=1}
local none={PING=1,ECHO=1,PUBLISH=1,SPUBLISH=1,DBSIZE=1,INFO=1,COMMAND=1,LASTSAVE=1,ROLE=1}
local pairwise={MSET=1,MSETNX=1}
local last={BLPOP=1,BRPOP=1,BZPOPMIN=1,BZPOPMAX=1}
local two={COPY=1,SMOVE=1,LMOVE=1,BLMOVE=1,BRPOPLPUSH=1,LCS=1,ZRANGESTORE=1,GEOSEARCHSTORE=1}
local rest={OBJECT=1,MEMORY=1,BITOP=1}
local counted={LMPOP=1,ZMPOP=1,SINTERCARD=1,ZINTERCARD=1,ZUNION=1,ZINTER=1,ZDIFF=1}
local stored={ZUNIONSTORE=1,ZINTERSTORE=1,ZDIFFSTORE=1}
local store={SORT=1,GEORADIUS=1,GEORADIUSBYMEMBER=1}
local function key(c,k,write)
k=tostring(k)
if prefix~='' and str.sub(k,1,#prefix)~=prefix then error('the script touches a key outside of the scratch prefix: '..str.sub(k,1,100),0) end
if mode=='1' and #S.log<192 then S.log[#S.log+1]=c S.log[#S.log+1]=k end
end
local function look(c,...)
local n=select('#',...)
S.n=S.n+1 S.w=S.w+1+n
if S.n>limit then error('the script called '..limit..' commands and goes on',0) end
local a={...}
local from,to,step=1,1,1
if none[c] then to=0
elseif all[c] then to=n
elseif pairwise[c] then to,step=n,2
elseif last[c] then to=n-1
elseif two[c] then to=2
elseif rest[c] then from,to=2,(c=='BITOP') and n or 2
elseif counted[c] then from,to=2,1+(num(a[1]) or 0)
elseif stored[c] then key(c,a[1]) from,to=3,2+(num(a[2]) or 0)
end
if to>n then to=n end
for i=from,to,step do key(c,a[i]) end
if store[c] then for i=2,n-1 do
local w=str.upper(tostring(a[i]))
if w=='STORE' or w=='STOREDIST' then key(c,a[i+1]) end
end end
if mode=='1' and S.bad=='' then for i=2,n do
local v=a[i]
if type(v)=='number' and (v>9007199254740992 or v< -9007199254740992) then S.bad=c..' '..str.format('%.17g',v)
elseif type(v)=='string' and #v<64 and str.find(v,'^%-?%d+%.?%d*[eE]%+?%d+$') then S.bad=c..' '..v end
end end
end
local function wrap(f) return function(cmd,...)
if type(cmd)~='string' then return f(cmd,...) end
local c=str.upper(cmd)
if c=='TIME' and sec~='-' then S.time=1 return {sec,usec} end
if c=='TIME' then S.time=1 else look(c,...) end
local r=f(cmd,...)
if type(r)=='table' then S.w=S.w+#r elseif type(r)=='string' then S.w=S.w+#r/64 end
return r
end end
local t={}
for k,v in pairs(R) do t[k]=v end
t.call,t.pcall=wrap(R.call),wrap(R.pcall)
S.mode=mode
return t,t
end)(redis,...)
