import type { Response } from 'supertest'

/** What a client finds at its redirection URI. */
export interface Redirection {
  /** The redirection URI without the parameters of the answer. */
  readonly uri: string
  readonly parameters: Readonly<Record<string, string>>
}

/** Reads an answer that sends the user agent on; every parameter of it comes once. */
export function redirectionOf(response: Response): Redirection {
  const [uri = '', query = ''] = locationOf(response).split('?')
  return { uri, parameters: parametersOf(query) }
}

/** Reads an answer in the fragment; the redirection URI may have a query. */
export function fragmentOf(response: Response): Redirection {
  const [uri = '', fragment = ''] = locationOf(response).split('#')
  return { uri, parameters: parametersOf(fragment) }
}

function locationOf(response: Response): string {
  const location = response.get('Location')
  if (response.status === 303 && location !== undefined) return location
  throw new Error(`Not a redirect: ${response.status} ${response.text.slice(0, 500)}`)
}

function parametersOf(component: string): Redirection['parameters'] {
  const pairs = [...new URLSearchParams(component)]
  const parameters = Object.fromEntries(pairs)
  if (Object.keys(parameters).length < pairs.length) throw new Error(`A parameter is repeated: ${component}`)
  return parameters
}

/** The code of an approval. */
export function codeOf(response: Response): string {
  const { code } = redirectionOf(response).parameters
  if (code === undefined) throw new Error(`No code came: ${response.get('Location')}`)
  return code
}
