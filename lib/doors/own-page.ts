import type { Request, Response } from 'express'
import type { ChoicesQuestion } from '../protocol/extension'
import type { OAuthError } from '../protocol/oauth-error'
import type { PageEndpoint, PageRequest, PageResponse } from './page-endpoint'
import type { ResourceOwner } from '../protocol/resource-owner'

/** A host may render it itself, with Express' request and response. */
export type OwnPage = Omit<PageEndpoint, 'handle' | 'login'> & {
  readonly login: 'required'
  handle(request: OwnPageRequest): Promise<PageResponse | RenderedByHost>
}

export interface OwnPageRequest extends PageRequest<ResourceOwner> {
  /** The option `choices` for a client of this owner. */
  choices(question: ChoicesQuestion): Promise<unknown>
}

export interface RenderedByHost {
  readonly view: object
  readonly render: (request: Request, response: Response) => unknown
  /** Decides event, status and headers. Default: a success. */
  readonly refusal?: OAuthError
}

export type RenderView<View> = (request: Request, response: Response, view: View) => unknown
