import { type Loaded, optionalPackage } from '../../primitives/configuration-error'
import type { PostgresPool, Row } from './pool'

interface Connection {
  on(event: 'error', listener: () => void): unknown
  end(): Promise<void>
}

/** What is used of pg. Declarations name no optional package. */
interface Pg {
  readonly Pool: new (settings: object) => PostgresPool & Connection
  readonly Client: new (settings: object) => Connection & {
    connect(): Promise<unknown>
    query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly Row[] }>
  }
}

/** @throws ConfigurationError without pg. */
export const loadPg = (without: { readonly subject: string; readonly cure: string }): Pg =>
  optionalPackage('pg', load, without)

function load(): Loaded<Pg> {
  try {
    return { found: require('pg') }
  } catch (cause) {
    return { cause }
  }
}
