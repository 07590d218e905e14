// Drives the real Node limiters for tests of package inspect: it takes one call
// per line and answers what the library said.
//
//   node main.mjs LIBRARY HOST:PORT '{"rate":10,"burst":20,"limit":10,"window_ms":1000}'
//
// A line in is a key and a cost, apart by a space. A line out is JSON: allowed,
// remaining (after the call), wait_ms (until this cost passes, of a refusal),
// or error. What a library does not say is left out.
import { createInterface } from "node:readline";
import { Redis } from "ioredis";
import { libraries } from "./libraries.mjs";

const [name, address, settings] = process.argv.slice(2);
const library = libraries[name];
if (!library) {
  console.error(`writers: no library is called ${name}`);
  process.exit(1);
}
const [host, port] = address.split(":");
const redis = new Redis({ host, port: Number(port), maxRetriesPerRequest: null, retryStrategy: () => null });
redis.on("error", (error) => console.error(`writers: ${error.message}`));
redis.on("end", () => process.exit(1)); // a server that is gone stays gone

const take = await library(redis, JSON.parse(settings));
for await (const line of createInterface({ input: process.stdin })) {
  const [key, cost] = line.split(" ");
  let answer;
  try {
    answer = await take(key, Number(cost));
  } catch (error) {
    answer = { allowed: false, error: String(error?.message ?? error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
process.exit(0);
