import type { DeclaredLimit, KnownClient, LimitRule } from '../contracts/limiter.ts'
import { StartupError } from '../errors/startup-error.ts'
import { clientNetwork } from '../limits/client-network.ts'
import { parseLimit, type ParsedLimit } from '../limits/parse-limit.ts'
import { describeRoute, type Route } from '../routing/route.ts'
import { didYouMean } from '../support/nearest.ts'
import type { PipelineRuntime } from './step.ts'

/** A limit of a route, ready to count. */
export interface ActiveLimit {
  readonly rule: LimitRule
  readonly parsed: ParsedLimit
  /** Name in the headers: that of the rule, or of the subject with the window. */
  readonly name: string
  /** Beginning of the keys of its counters. */
  readonly prefix: string
  readonly stage: 'address' | 'credential' | 'caller'
  /** Method and path, for messages. */
  readonly route: string
}

/**
 * Returns the limits of a route in the order of their declaration. Requests with OPTIONS are never counted.
 * @throws StartupError for a limit that cannot be counted.
 */
export function limitsOf(route: Route, runtime: PipelineRuntime): readonly ActiveLimit[] {
  const { limit } = route.definition
  if (limit === undefined || limit === false || route.method === 'OPTIONS') return []
  const { limiter } = runtime
  if (limiter === undefined)
    throw fault(route, 'declares a limit, and no brick provides a limiter', {
      code: 'MORTAR_LIMIT_MISSING',
      remedy:
        'Register a brick with the service limiter (node_modules/mortar/docs/limits.md), or remove limit from the route.',
    })
  return [limit].flat().map((item, index) => {
    const active = typeof item === 'string' ? named(item, limiter.rules, route) : inline(item, route, index)
    if (active.rule.by === 'user' && !route.definition.auth) throw withoutUser(route)
    limiter.declare?.(declared(active))
    return active
  })
}

/** Under the name of a rule for all its routes, else with the route. */
function declared({ rule, name, prefix, route }: ActiveLimit): DeclaredLimit {
  const { by } = rule
  const subjectOf = ({ ip, user, key }: KnownClient): string | undefined => {
    if (by === 'ip') return ip === undefined ? undefined : clientNetwork(ip)
    if (by === 'user') return user
    return by === 'credential' ? undefined : key
  }
  return {
    name: prefix.startsWith('rule:') ? name : `${route} ${name}`,
    limit: rule,
    by: typeof by === 'string' ? by : 'key',
    keyOf(client) {
      const found = subjectOf(client)
      return found === undefined ? undefined : prefix + found
    },
  }
}

/** All routes with the name count together. */
function named(name: string, rules: Readonly<Record<string, LimitRule>>, route: Route): ActiveLimit {
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
  if (rule !== undefined) return { ...partsOf(rule, route), name, prefix: `rule:${name}:` }
  throw fault(route, `has the limit '${name}', which is not a rule`, {
    code: 'MORTAR_LIMIT_UNKNOWN',
    remedy: didYouMean(
      name,
      Object.keys(rules),
      `Add it to the rules of the brick with the limiter: rules: { ${name}: { limit, window, by } }.`,
    ),
  })
}

/** Each route counts alone. A HEAD request counts as GET. */
function inline(rule: LimitRule, route: Route, index: number): ActiveLimit {
  const parts = partsOf(rule, route)
  const method = route.method === 'HEAD' ? 'GET' : route.method
  const kind = typeof rule.by === 'string' ? rule.by : 'custom'
  return {
    ...parts,
    name: `${kind}-${parts.parsed.window}s`,
    prefix: `route:${method} ${route.path}:${index}:`,
  }
}

function partsOf(
  rule: LimitRule,
  { method, path }: Route,
): Pick<ActiveLimit, 'rule' | 'parsed' | 'stage' | 'route'> {
  const stage = rule.by === 'ip' ? 'address' : rule.by === 'credential' ? 'credential' : 'caller'
  return { rule, parsed: parseLimit(rule), stage, route: `${method} ${path}` }
}

function withoutUser(route: Route): StartupError {
  return fault(route, "has a limit by 'user' and no auth", {
    code: 'MORTAR_LIMIT_USER',
    remedy: "Add auth: true to the route, or limit it by 'ip'.",
  })
}

function fault(
  route: Route,
  found: string,
  options: { readonly code: string; readonly remedy: string },
): StartupError {
  return new StartupError(`${describeRoute(route)} ${found}.`, { ...options, files: [route.origin] })
}
