import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { bundled } from './bundled'
import { outputOf } from './program-output'

/** What the hosts serve. */
export interface HostsPlan {
  /** The names in the certificate of the origin. */
  readonly names: readonly string[]
  /** The redirection URI of every document of a client. */
  readonly redirectUri: string
  /** The keys at every URL of keys. */
  readonly jwks: object
}

/** Where the hosts are. */
export interface DocumentHosts {
  /** The address of the DNS server, with its port. Every name has 127.0.0.1; names in `silent.example` get no answer. */
  readonly dns: string
  /** The port of the https origin, which answers for every name. */
  readonly port: number
  /** The certificate authority of the origin, PEM. */
  readonly ca: string
}

/**
 * Starts DNS and an https origin in a process of their own: the 2 seconds of a document count what they take, and a
 * busy test would be slower than any host.
 */
export async function startDocumentHosts(
  plan: HostsPlan,
): Promise<DocumentHosts & { stop(): Promise<void> }> {
  const program = bundled(join(__dirname, 'document-hosts-process.ts'))
  const child = spawn(process.execPath, [program, JSON.stringify(plan)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const output = outputOf(child, 'The process of the hosts of documents')
  const [line] = await output.until(/^\{.*\}$/m)
  const hosts: DocumentHosts = JSON.parse(line)
  return {
    ...hosts,
    stop: async () => {
      child.kill('SIGKILL')
      await output.ended()
    },
  }
}
