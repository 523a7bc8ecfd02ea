import type { Request, Response } from 'express'
import type { ChoicesQuestion } from '../authorization-endpoint/prior-consent'
import type { OAuthError } from '../protocol/oauth-error'
import type { PageEndpoint, PageRequest, PageResponse } from '../protocol/page-endpoint'
import type { ResourceOwner } from '../protocol/resource-owner'

/** A page of the suite that a host may render itself, with the request and the response of Express. */
export type OwnPage = Omit<PageEndpoint, 'handle' | 'login'> & {
  readonly login: 'required'
  handle(request: OwnPageRequest): Promise<PageResponse | RenderedByHost>
}

/** A request at a page of the suite. */
export interface OwnPageRequest extends PageRequest<ResourceOwner> {
  /** What the option `choices` returns for a client of this owner; undefined without the option. */
  choices(question: ChoicesQuestion): Promise<unknown>
}

/** The response of a page that the host renders. */
export interface RenderedByHost {
  readonly view: object
  readonly render: (request: Request, response: Response) => unknown
  /** Why the page appears: the event, the status and the headers of the response. Default: the page is a success. */
  readonly refusal?: OAuthError
}

/** A function of a host that renders a page of the suite. */
export type RenderView<View> = (request: Request, response: Response, view: View) => unknown
