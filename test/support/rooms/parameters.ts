import { Parameters } from '../../../lib/protocol/parameters'

/** The parameters of a request; undefined leaves one out, a list repeats it. */
export function parametersOf(
  values: Readonly<Record<string, string | readonly string[] | undefined>> = {},
): Parameters {
  const pairs = Object.entries(values).flatMap(([name, value = []]): [string, string][] =>
    (typeof value === 'string' ? [value] : value).map((one) => [name, one]),
  )
  return Parameters.parse(new URLSearchParams(pairs).toString())
}
