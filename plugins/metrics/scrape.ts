import type { Counter, Gauge as PromGauge, MetricObjectWithValues, MetricValue, Registry } from 'prom-client'
import type { Gauge, Gauges } from 'mortar'
import type { ProcessReport } from 'mortar/kit'
import { loadPromClient } from './prom-client.ts'

/** The metrics of one process, as sent between processes. */
export type MetricsReport = readonly MetricObjectWithValues<MetricValue<string>>[]

/** Renders the metrics of an application. */
export type Scrape = ReturnType<typeof createScrape>

/** Sources of a scrape. */
export interface ScrapeSource {
  readonly registry: Registry
  readonly gauges: Gauges
  readonly prefix: string
  /** Shares the report of this process with the other ones. */
  readonly share: (
    own: () => Promise<MetricsReport>,
    combineEnded: (reports: readonly MetricsReport[]) => Promise<MetricsReport>,
  ) => ProcessReport<MetricsReport>
}

/** Creates the scrape of an application. */
export function createScrape({ registry, gauges, prefix, share }: ScrapeSource) {
  const addGauges = gaugeAdder(registry, gauges, prefix)
  const own = async (): Promise<MetricsReport> => {
    addGauges()
    return registry.getMetricsAsJSON()
  }
  const report = share(own, (ended) => together(ended.map(withoutGauges)).getMetricsAsJSON())
  return {
    /** Returns the text for Prometheus, with its media type: the sum over all processes. */
    async render() {
      const reports = await report.collect()
      addGauges()
      const shown = reports.length > 1 ? together(reports) : registry
      return { type: registry.contentType, text: await shown.metrics() }
    },
    stop: () => report.stop(),
  }
}

/** Returns a function that adds the gauges of the application which the registry lacks. */
function gaugeAdder(registry: Registry, gauges: Gauges, prefix: string): () => void {
  const { Counter, Gauge } = loadPromClient()
  const known = new Set<string>()
  return () => {
    for (const [name, { help, label, combine = 'sum', isCounter = false }] of gauges.all) {
      if (known.has(name)) continue
      known.add(name)
      const settings = {
        name: `${prefix}${name}`,
        help,
        aggregator: combine,
        registers: [],
        labelNames: label === undefined ? [] : [label],
        collect(this: Counter | PromGauge) {
          this.reset()
          if (label === undefined) this.remove()
          // Read by name, because a gauge can be replaced.
          for (const [labels, value] of valuesOf(gauges.all.get(name), label)) this.inc(labels, value)
        },
      }
      registry.registerMetric(isCounter ? new Counter(settings) : new Gauge(settings))
    }
  }
}

/** The values of a gauge with their labels. */
function valuesOf(
  gauge: Gauge | undefined,
  label = '',
): readonly (readonly [Record<string, string>, number])[] {
  const value = gauge?.read()
  if (value === undefined) return []
  if (typeof value === 'number') return [[{}, value]]
  return [...value].map(([name, each]) => [{ [label]: name }, each])
}

/** Counters and histograms of a worker that has ended still count, so that the sums never fall. */
function withoutGauges(report: MetricsReport): MetricsReport {
  return report.filter(({ type }) => ['counter', 'histogram'].includes(String(type)))
}

/** Combines the metrics of several processes: sums of counters and histograms, and what each gauge declares. */
function together(reports: readonly MetricsReport[]): Registry {
  return loadPromClient().AggregatorRegistry.aggregate([...reports])
}
