"""`PurseRouter`: a campaign chooses among the deployments of a LiteLLM router, within its budget.

hook = PurseRouter({"auto": create_campaign(router, "auto", budget="25.00")})
litellm.callbacks = [hook]
answer = await router.acompletion(model="auto", messages=[...])
"""

from purse.integrations.litellm.costs import create_campaign, price
from purse.integrations.litellm.router import PurseRouter, ticket_of

__all__ = ["PurseRouter", "create_campaign", "price", "ticket_of"]
