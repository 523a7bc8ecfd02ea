import { isRecord, isText } from '../protocol/configuration'

/** Where a client of ioredis connects, for messages: hosts and ports alone, and nothing of what it authenticates by. */
export function describeAddress(client: object): string {
  const { place, options, startupNodes }: { place?: unknown; options?: unknown; startupNodes?: unknown } =
    client
  if (isText(place)) return place
  const settings = isRecord(options) ? options : {}
  const { path, sentinels, name } = settings
  if (isText(path)) return `Redis at ${path}`
  if (Array.isArray(sentinels) && sentinels.length > 0)
    return `Redis ${word(name, '')} behind the sentinels ${listed(sentinels)}`
  if (Array.isArray(startupNodes)) return `Redis Cluster at ${listed(startupNodes)}`
  return isText(settings['host']) ? `Redis at ${nodeOf(settings)}` : 'Redis'
}

const listed = (nodes: readonly unknown[]): string => nodes.map((node) => nodeOf(node)).join(', ')

function nodeOf(node: unknown): string {
  if (isRecord(node)) return `${word(node['host'], 'localhost')}:${word(node['port'], '6379')}`
  // A URL holds a password; a number is the port.
  if (isText(node)) return URL.canParse(node) ? new URL(node).host : 'a node'
  return `localhost:${word(node, '6379')}`
}

const word = (value: unknown, usual: string): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : usual
