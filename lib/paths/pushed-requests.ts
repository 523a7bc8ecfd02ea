export {
  pushedAuthorizationRequests,
  type PushedAuthorizationRequestsOptions,
} from '../pushed-requests/pushed-requests'
export type { PushLimitOptions } from '../pushed-requests/push-endpoint'
export { requestObjects, type RequestObjectOptions } from '../request-objects/request-objects'
export { formPost } from '../form-post/form-post'
