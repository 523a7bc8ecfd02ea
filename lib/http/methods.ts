import type { Request, Response } from 'express'
import type { Edge } from './edge'
import { type EndpointDescription, listedMethods } from '../protocol/endpoint'
import { sendJsonError } from './response'

export const methodsOf = (endpoint: EndpointDescription): readonly string[] =>
  listedMethods(endpoint).flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : method))

/** RFC 9110 15.5.6. No limit counts this: any web page can cause it, and the response costs nothing. */
export function refuseMethod(
  { audit, settings }: Edge,
  endpoint: EndpointDescription,
  request: Request,
  response: Response,
): void {
  const refusal = methodNotAllowed(endpoint)
  const audited = { request, response, endpoint: endpoint.name }
  audit.reportRefusal(audited, { ...refusal, reason: 'method_not_allowed' })
  sendJsonError(response, 405, refusal, settings.errorUri, { Allow: methodsOf(endpoint).join(', ') })
}

const methodNotAllowed = (row: EndpointDescription) => {
  const [endpoint, method] = [row.name, listedMethods(row).join(' or ')]
  return { code: 'invalid_request', description: `The ${endpoint} endpoint takes ${method} requests only.` }
}

/** Not HEAD, unless the page lists it: a link checker must not cause what a page causes. */
export function takesMethod(
  { audit }: Edge,
  endpoint: string,
  methods: readonly string[],
  request: Request,
  response: Response,
): boolean {
  if (methods.includes(request.method)) return true
  const audited = { request, response, endpoint }
  audit.reportRefusal(audited, { code: 'invalid_request', reason: 'method_not_allowed' })
  response.writeHead(405, { Allow: methods.join(', '), 'Content-Length': 0 }).end()
  return false
}
