"""The twin that follows a live arm and tells the gap between both."""
