/*
 * An entry of a stream has the id `number-milliseconds`. `events` has the last minute of all channels, for the processes; its
 * last entry is the head of the order. Each channel has a stream of its own, for clients that come back.
 *
 * A server that was started again, or has replaced another one, may have lost confirmed events. So an order belongs to one
 * run of one server: another one begins a new order, whose first number is the clock, and thereby above all earlier ones.
 */
import { LEASE, SPARE } from './engine.ts'

/** Milliseconds for which the number of the last event of a process is kept. */
const SENDER = 86_400_000

const NOW = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
`

/** Finds the head of the order, or begins another one, and deletes old events. KEYS[1] is the stream of all events. */
const HEAD = `${NOW}
local run = string.sub(string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or '', 1, 12)
local function atOf(entry) return tonumber(string.match(entry[1], '^%d+')) end
local function timeOf(entry) return tonumber(string.match(entry[1], '%d+$')) end
local at, epoch = 0, nil
-- Deletes the entries before a time. The head stays.
local function trim(key, before)
  local first = redis.call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
  -- A search among all entries is worth it for many of them only.
  if not first or timeOf(first) >= before - ${SPARE} then return end
  local low, high = atOf(first), at
  while low < high do
    local middle = math.floor((low + high) / 2)
    local entry = redis.call('XRANGE', key, string.format('%.0f', middle), '+', 'COUNT', 1)[1]
    if entry and timeOf(entry) < before then low = atOf(entry) + 1 else high = middle end
  end
  redis.call('XTRIM', key, 'MINID', string.format('%.0f', math.min(low, at)))
end
local function add(key, channel, event, data)
  local id = string.format('%.0f-%.0f', at, now)
  redis.call('XADD', key, id, 'epoch', epoch, 'channel', channel, 'event', event, 'data', data)
end
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last then
  at, epoch, now = atOf(last), last[2][2], math.max(now, timeOf(last))
end
if not epoch or string.sub(epoch, 1, #run) ~= run then
  at = math.max(at + 1, clock[1] * 1000000 + clock[2])
  epoch = run .. string.format('%.0f', at)
  -- No channel has this name.
  add(KEYS[1], '/', '', '')
end
trim(KEYS[1], now - ${SPARE})
`

/** Scripts by the names of their commands. */
export const SCRIPTS = {
  /** Returns the epoch, the last number and the time. */
  mortarChannelsHead: `${HEAD} return { epoch, string.format('%.0f', at), string.format('%.0f', now) }`,
  /**
   * Adds events: for each a key, and number, channel, event, data and milliseconds. KEYS[2] has the number of the last event
   * of this process, so that events that are sent again are not added again.
   */
  mortarChannelsAdd: `${HEAD}
local done = tonumber(redis.call('GET', KEYS[2]) or 0)
for index = 3, #KEYS do
  local number, channel, event, data, keep = unpack(ARGV, (index - 3) * 5 + 1, (index - 2) * 5)
  if tonumber(number) > done then
    at = at + 1
    add(KEYS[1], channel, event, data)
    add(KEYS[index], channel, event, data)
    trim(KEYS[index], now - keep - ${SPARE})
    redis.call('PEXPIRE', KEYS[index], keep + ${SPARE})
    done = tonumber(number)
  end
end
redis.call('SET', KEYS[2], done, 'PX', ${SENDER})`,
  /** Renews leases: for each a key and a member. */
  mortarChannelsEnter: `${NOW}
for index, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  redis.call('ZADD', key, now + ${LEASE}, ARGV[index])
  redis.call('PEXPIRE', key, ${LEASE})
end`,
  /** Returns the members of each key. */
  mortarChannelsPresent: `${NOW}
local lists = {}
for index, key in ipairs(KEYS) do lists[index] = redis.call('ZRANGEBYSCORE', key, now, '+inf') end
return lists`,
} as const
