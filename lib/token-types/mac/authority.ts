/** A host and its port, as a MAC covers them. */
export interface Authority {
  readonly host: string
  readonly port: string
}

const grammar = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::([1-9]\d{0,4}))?$/i

/** Reads a value of `Host`; without a port it means the default one. Undefined when it is malformed. */
export function parseAuthority(text: string, secure: boolean): Authority | undefined {
  const [, host, port = secure ? '443' : '80'] = grammar.exec(text) ?? []
  return host === undefined ? undefined : { host: host.toLowerCase(), port }
}

/** Whether one of the host's own entries means this authority; an entry without a port means the default one. */
export function isListed(authority: Authority, hosts: readonly string[], secure: boolean): boolean {
  return hosts.some((entry) => {
    const listed = parseAuthority(entry, secure)
    return listed?.host === authority.host && listed.port === authority.port
  })
}

export const isAuthority = (value: unknown): value is string =>
  typeof value === 'string' && grammar.test(value)
