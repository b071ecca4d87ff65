import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts'
import type { Job } from 'kubernetes-types/batch/v1.d.ts'
import type { PodSpec } from 'kubernetes-types/core/v1.d.ts'
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts'
import { parseAllDocuments } from 'yaml'
import { ROOT } from '../architecture/tree.ts'
import { readDeployFile } from './files.ts'

interface Resource {
  readonly apiVersion: string
  readonly kind: string
}

const MANIFEST = readDeployFile('kubernetes.yaml')

function parse(manifest: string): Resource[] {
  return parseAllDocuments(manifest).map((document) => {
    expect(document.errors).to.deep.equal([])
    return document.toJS() as Resource
  })
}

/**
 * Checks manifests against the types of the Kubernetes API, which refuses unknown keys and values of other types. Returns
 * the errors of each.
 */
function typeErrors(...manifests: readonly Resource[][]): string[] {
  const directory = mkdtempSync(join(tmpdir(), 'mortar-kubernetes-'))
  const files = manifests.map((_, at) => `manifest-${at}.ts`)
  try {
    for (const [at, file] of files.entries())
      writeFileSync(join(directory, file), manifests[at]!.map(typed).join('\n'))
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const options = ['--noEmit', '--strict', '--module', 'esnext', '--moduleResolution', 'bundler']
    const { stdout } = spawnSync(process.execPath, [tsc, ...options, '--types', '', ...files], {
      cwd: directory,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    })
    const lines = stdout.split('\n')
    return files.map((file) => lines.filter((line) => line.startsWith(file)).join('\n'))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function typed({ apiVersion, kind, ...rest }: Resource, at: number): string {
  const types = join(ROOT, 'node_modules/kubernetes-types')
  const module = join(types, apiVersion.includes('/') ? apiVersion : `core/${apiVersion}`)
  return `export const resource${at}: import(${JSON.stringify(module)}).${kind} = ${JSON.stringify({ apiVersion, kind, ...rest })}`
}

describe('deploy/kubernetes.yaml', () => {
  const resources = parse(MANIFEST)
  const find = <T>(kind: string): T => resources.find((resource) => resource.kind === kind) as T
  const web = find<Deployment>('Deployment').spec!
  const job = find<Job>('Job').spec!
  const pods: readonly PodSpec[] = [web.template.spec!, job.template.spec!]

  it('fits the types of the Kubernetes API', function () {
    const misspelt = parse(MANIFEST.replace('readinessProbe', 'readinesProbe'))
    const quoted = parse(MANIFEST.replace('backoffLimit: 3', "backoffLimit: '3'"))
    const [none, ofMisspelt, ofQuoted] = typeErrors(resources, misspelt, quoted)
    expect(none).to.equal('')
    expect(ofMisspelt).to.include('readinesProbe')
    expect(ofQuoted).to.include("'string' is not assignable to type 'number'")
  })

  it('gives a pod the time to drain and to close', () => {
    const drainDelay = 5
    const shutdownTimeout = 10
    expect(web.template.spec!.terminationGracePeriodSeconds).to.be.greaterThan(
      drainDelay + 2 * shutdownTimeout,
    )
  })

  it('notices the readiness of a draining pod before drainDelay is over', () => {
    const { readinessProbe } = web.template.spec!.containers[0]!
    const { periodSeconds, failureThreshold } = readinessProbe!
    expect(periodSeconds! * failureThreshold!).to.be.lessThan(5)
  })

  it('asks /livez whether a pod lives, and /readyz whether it receives requests', () => {
    const { startupProbe, livenessProbe, readinessProbe } = web.template.spec!.containers[0]!
    const paths = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe!.httpGet!.path)
    expect(paths).to.deep.equal(['/livez', '/livez', '/readyz'])
  })

  it('runs without root, privileges and a writable root file system, in limits', () => {
    for (const { securityContext, containers, automountServiceAccountToken, volumes } of pods) {
      expect(automountServiceAccountToken).to.equal(false)
      expect(securityContext).to.include({ runAsNonRoot: true, runAsUser: 1000 })
      const [container] = containers
      expect(container!.securityContext).to.deep.equal({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(container!.resources!.limits).to.have.property('memory')
      expect(container!.volumeMounts!.map(({ mountPath }) => mountPath)).to.deep.equal(['/tmp'])
      expect(volumes!.map(({ name }) => name)).to.deep.equal(container!.volumeMounts!.map(({ name }) => name))
    }
  })

  it('selects the pods of the application, and not those of the job', () => {
    const { labels } = web.template.metadata!
    const budget = find<PodDisruptionBudget>('PodDisruptionBudget').spec!
    const service = find<{ spec: { selector: object } }>('Service').spec
    for (const selector of [web.selector.matchLabels, budget.selector!.matchLabels, service.selector])
      expect(selector).to.deep.equal(labels)
    expect(job.template.metadata!.labels).not.to.deep.equal(labels)
  })

  it('contains no secret', () => {
    expect(resources.map(({ kind }) => kind)).not.to.include('Secret')
    expect(
      pods.every(({ containers }) => containers[0]!.envFrom!.some(({ secretRef }) => secretRef)),
    ).to.equal(true)
  })
})
