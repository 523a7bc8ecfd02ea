export {
  pushedAuthorizationRequests,
  type PushedAuthorizationRequestsOptions,
  type PushLimitOptions,
} from '../pushed-requests/pushed-requests'
export { requestObjects, type RequestObjectOptions } from '../request-objects/request-objects'
export * from '../form-post/form-post'
