import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type * as OpenTelemetry from '@opentelemetry/api'
import type { Context, Span } from '@opentelemetry/api'
import { REQUEST_CHANNEL, type ObservedRequest } from 'mortar'
import { attributesAtEnd, attributesAtStart, spanName } from './conventions.ts'

type Api = typeof OpenTelemetry
const START = `tracing:${REQUEST_CHANNEL}:start`
const END = `tracing:${REQUEST_CHANNEL}:asyncEnd`
const SPAN = Symbol('span')
type Traced = ObservedRequest & { [SPAN]?: OwnSpan }

/** The span of a request. */
interface OwnSpan {
  readonly span: Span
  /** True if an HTTP instrumentation has made the span and ends it. */
  readonly isAdopted: boolean
}

/**
 * Traces the requests of one application.
 * @param services identify the application, because all applications of a process share the channel.
 * @returns a function that ends the tracing.
 */
export function traceRequests(services: object, api: Api): () => void {
  const begin = beginner(api)
  const start = (message: unknown): void => {
    const request = message as Traced
    if (request.services !== services) return
    const active = begin(request)
    request.around = (work) => api.context.with(active, work)
  }
  const end = (message: unknown): void => {
    const request = message as Traced
    const traced = request.services === services ? request[SPAN] : undefined
    if (traced === undefined) return
    const { attributes, isError } = attributesAtEnd(request)
    traced.span.setAttributes(attributes)
    if (isError) traced.span.setStatus({ code: api.SpanStatusCode.ERROR })
    if (!traced.isAdopted) traced.span.end()
  }
  subscribe(START, start)
  subscribe(END, end)
  return () => {
    unsubscribe(START, start)
    unsubscribe(END, end)
  }
}

/** Returns a function that begins the span of a request and returns the context with it. */
function beginner(api: Api): (request: Traced) => Context {
  const { context, propagation, SpanKind, trace } = api
  const tracer = trace.getTracer('mortar')
  /** Spans of requests, so that a request inside another one gets a span of its own. */
  const used = new WeakSet<Span>()
  return (request) => {
    const outer = context.active()
    const active = trace.getSpan(outer)
    const attributes = attributesAtStart(request)
    if (active !== undefined && isServerSpan(active, SpanKind.SERVER) && !used.has(active)) {
      used.add(active.updateName(spanName(request)).setAttributes(attributes))
      note(request, { span: active, isAdopted: true })
      return outer
    }
    const parent = propagation.extract(outer, request.req.headers)
    const span = tracer.startSpan(spanName(request), { kind: SpanKind.SERVER, attributes }, parent)
    used.add(span)
    note(request, { span, isAdopted: false })
    return trace.setSpan(parent, span)
  }

  function note(request: Traced, traced: OwnSpan): void {
    request[SPAN] = traced
    const spanContext = traced.span.spanContext()
    if (!api.isSpanContextValid(spanContext)) return
    const { traceId, spanId } = spanContext
    request.logFields = { ...request.logFields, trace_id: traceId, span_id: spanId }
  }
}

/** The API does not expose the kind of a span; spans of the SDK have it as a property. */
function isServerSpan(span: Span, kind: OpenTelemetry.SpanKind): boolean {
  return (span as { readonly kind?: unknown }).kind === kind && span.isRecording()
}
