import type { Request, Response } from 'express'
import type { ChoicesQuestion } from '../authorization-endpoint/prior-consent'
import type { OAuthError } from '../protocol/oauth-error'
import type { PageEndpoint, PageRequest, PageResponse } from '../protocol/page-endpoint'
import type { ResourceOwner } from '../protocol/resource-owner'

/** A page of the suite that a host may render itself, with Express' request and response. */
export type OwnPage = Omit<PageEndpoint, 'handle' | 'login'> & {
  readonly login: 'required'
  handle(request: OwnPageRequest): Promise<PageResponse | RenderedByHost>
}

export interface OwnPageRequest extends PageRequest<ResourceOwner> {
  /** What the option `choices` returns for a client of this owner; undefined without it. */
  choices(question: ChoicesQuestion): Promise<unknown>
}

export interface RenderedByHost {
  readonly view: object
  readonly render: (request: Request, response: Response) => unknown
  /** Decides the event, the status and the headers. Default: the page is a success. */
  readonly refusal?: OAuthError
}

export type RenderView<View> = (request: Request, response: Response, view: View) => unknown
